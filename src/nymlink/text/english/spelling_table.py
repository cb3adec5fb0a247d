"""The built-in typo table: misspelt and British words, and what American vocabularies write for them.

Only words that can stand for nothing else, in other languages either: French has "fibre" and "goitre", German
"Syndrom". Most open vocabularies spell the American way.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_MISSPELT: Final = """
abcess abscess
abdomnal abdominal
abnormailty abnormality
abnormalites abnormalities
abnormalties abnormalities
alzeimer alzheimer
anurysm aneurysm
arrythmia arrhythmia
arrythmias arrhythmias
arhythmia arrhythmia
artheritis arthritis
asthsma asthma
athersclerosis atherosclerosis
carcenoma carcinoma
carcinma carcinoma
cirrhosus cirrhosis
congential congenital
defficiency deficiency
deficency deficiency
deficiancy deficiency
delerium delirium
dermatits dermatitis
diabeties diabetes
diahrrea diarrhea
diarhea diarrhea
disfunction dysfunction
disphagia dysphagia
dysfuntion dysfunction
dystonea dystonia
dystrohpy dystrophy
dystropy dystrophy
epilespy epilepsy
epilepsey epilepsy
excema eczema
exzema eczema
fibrilation fibrillation
gastritits gastritis
hemmorrhage hemorrhage
hemorhage hemorrhage
hemorroids hemorrhoids
hemorrage hemorrhage
hepatitits hepatitis
hypertention hypertension
hypotention hypotension
infarcton infarction
inflamation inflammation
inflamatory inflammatory
insufficency insufficiency
leukemai leukemia
luekemia leukemia
lymphona lymphoma
malignent malignant
menigitis meningitis
migrane migraine
myocaridal myocardial
neurophathy neuropathy
neuropthy neuropathy
obstuctive obstructive
opthalmic ophthalmic
opthalmoplegia ophthalmoplegia
osteoperosis osteoporosis
pnemonia pneumonia
pnumonia pneumonia
psoriassis psoriasis
psychosys psychosis
pulmonry pulmonary
retardaton retardation
rhuematoid rheumatoid
rheumatiod rheumatoid
schizophenia schizophrenia
schizophrena schizophrenia
seisure seizure
seizue seizure
shizophrenia schizophrenia
sydrome syndrome
symdrome syndrome
syndorme syndrome
tachycardria tachycardia
thrombocytopaenia thrombocytopenia
tuberculossis tuberculosis
vertebal vertebral
"""

_BRITISH: Final = """
aetiology etiology
anaemia anemia
anaemias anemias
anaemic anemic
anaesthesia anesthesia
anaesthetic anesthetic
apnoea apnea
bacteraemia bacteremia
behaviour behavior
behavioural behavioral
caecal cecal
coeliac celiac
colour color
diarrhoea diarrhea
dyslipidaemia dyslipidemia
dyspnoea dyspnea
faecal fecal
galactosaemia galactosemia
gonorrhoea gonorrhea
gynaecological gynecological
gynaecomastia gynecomastia
haemangioma hemangioma
haemangiomas hemangiomas
haematological hematological
haematoma hematoma
haematuria hematuria
haemochromatosis hemochromatosis
haemodialysis hemodialysis
haemoglobin hemoglobin
haemoglobinuria hemoglobinuria
haemolysis hemolysis
haemolytic hemolytic
haemophilia hemophilia
haemorrhage hemorrhage
haemorrhages hemorrhages
haemorrhagic hemorrhagic
haemorrhoids hemorrhoids
hypercalcaemia hypercalcemia
hypercholesterolaemia hypercholesterolemia
hyperglycaemia hyperglycemia
hyperkalaemia hyperkalemia
hyperlipidaemia hyperlipidemia
hyperphenylalaninaemia hyperphenylalaninemia
hyperuricaemia hyperuricemia
hypocalcaemia hypocalcemia
hypoglycaemia hypoglycemia
hypokalaemia hypokalemia
hyponatraemia hyponatremia
hypovolaemia hypovolemia
ischaemia ischemia
ischaemic ischemic
leucoderma leukoderma
leucodystrophy leukodystrophy
leukaemia leukemia
leukaemias leukemias
leukaemic leukemic
neutropaenia neutropenia
oedema edema
oedematous edematous
oesophageal esophageal
oesophagitis esophagitis
oesophagus esophagus
oestrogen estrogen
orthopaedic orthopedic
paediatric pediatric
phaeochromocytoma pheochromocytoma
phaeochromocytomas pheochromocytomas
polycythaemia polycythemia
septicaemia septicemia
sulphate sulfate
thalassaemia thalassemia
thalassaemias thalassemias
tumour tumor
tumours tumors
uraemia uremia
uraemic uremic
"""


def _pairs(lines: str) -> dict[str, str]:
    return dict(line.split() for line in lines.split("\n") if line)


DEFAULT_SPELLING: Final[Mapping[str, str]] = MappingProxyType(_pairs(_MISSPELT) | _pairs(_BRITISH))
