"""Write mappings of terms to concepts, each term once: SSSOM, Usagi, OMOP, FHIR."""
