"""Topics of names of columns: words of English, German, French, Spanish, Italian, Portuguese and Dutch.

An entry may be several words in a row, which may also be written as one; `*` matches any letters,
and after `=` an entry is the whole name. Accents, numbers
and capitals do not count.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from tcdp_audit.drafting.abbreviations import expanded
from tcdp_audit.plugin.detector import Role, Scale


@dataclass(frozen=True)
class Topic:
    """The topic of some words."""

    key: str  # names it
    noun: str  # what a reason says the name speaks of
    role: Role  # that a column of this topic has
    scale: Scale  # that its values have where they are what the topic promises
    words: str  # the entries, between commas


_KNOWN, _SECRET, _NAMES = Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.IDENTIFIER

TOPICS = (
    Topic(
        "person",
        "a person's name or account",
        _NAMES,
        Scale.NOMINAL,
        "=name, =names, first name, last name, given name, full name, middle name, maiden name, surname, "
        "forename, family name, patient name, customer name, person name, employee name, student name, user name, "
        "nickname, vorname, nachname, familienname, geburtsname, benutzername, prenom, nom, nom de famille, "
        "apellido*, nombre, nombre completo, cognome, nome completo, sobrenome, voornaam, achternaam, "
        "gebruikersnaam, full address, street address, street, street name, street number, house number, address, "
        "adresse, anschrift, strasse*, hausnummer, rue, direccion, calle, indirizzo, endereco, adres, straat, "
        "huisnummer, mail address, e mail, email, email address, courriel, correo, phone, phone number, "
        "telephone, mobile, mobile number, cell phone, cellphone, fax, fax number, telefon*, handynummer, "
        "telefono, telefone, telemovel, telefoon*, passport, passport number, passport no, social security "
        "number, social security no, ssn, soc sec id, social insurance number, national id, national insurance "
        "number, nino, sozialversicherungsnummer, steuer id, steuernummer, personalausweis*, dni, nif, codice "
        "fiscale, cpf, bsn, burgerservicenummer, numero de securite sociale, insee, nir, medical record number, "
        "mrn, health plan number, insurance number, versichertennummer, krankenversichertennummer, account "
        "number, account no, kontonummer, iban, bic, card number, credit card, credit card number, "
        "kreditkartennummer, licence number, license number, drivers licence, drivers license, driver licence, "
        "driver license, fuehrerschein*, licence plate, license plate, number plate, plate number, kennzeichen, "
        "vin, vehicle identification number, serial number, device id, imei, imsi, mac address, ip, ip address, "
        "ipv, url, website, homepage, cookie, cookie id, advertising id, twitter*, facebook*, linkedin*, "
        "instagram*, latitude, longitude, lat, lon, lng, gps, coordinates, photo, portrait, fingerprint, "
        "signature",
    ),
    Topic(
        "key",
        "a record's or a person's own number",
        _NAMES,
        Scale.NOMINAL,
        "id, uuid, guid, rec id, record id, record number, record no, person id, patient id, customer id, user "
        "id, employee id, student id, client id, member id, subject id, case id, case number, household id, "
        "patient number, customer number, employee number, membership number, kundennummer, personalnummer, "
        "patientennummer, fallnummer, matrikelnummer, identifiant, identificador, identificativo, identifier, "
        "pseudonym, unnamed, row number, rownum, row id, seqn, serial, pid, uid, hhid, idno, id no, caseid, "
        "respondent id, resp id, respid, subjid, ptid, patno, obs, observation, unique id, family id, famid, hid, "
        "household no, interview number, respondent number, study id, studyid, person num, pers num, interview "
        "num, int num, intnum, subject num, subj num, patient num, pat num, respondent num, resp num, case num, "
        "record num, student num, bib, bib num, bib number, id code, idcode, pupil nr, pupil num, student nr, "
        "person nr, patient nr, case",
    ),
    Topic(
        "date",
        "a date or time",
        _KNOWN,
        Scale.NOMINAL,
        "date, date of *, birthdate, startdate, enddate, admissiondate, dob, birth, birth date, birth day, "
        "birthday, birth year, year of birth, month of birth, born, day, month, quarter, year, yob, timestamp, "
        "datetime, created at, updated at, admitted, discharged, *datum, geburt*, jahr, *jahr, monat, date de *, "
        "naissance, annee, annee de naissance, mois, jour, fecha*, nacimiento, ano, mes, dia, data di nascita, "
        "data de nascimento, data nascita, data nascimento, nascita, nascimento, anno, mese, geboorte*, "
        "geboortejaar, jaar, maand, yr, time of day, weekday, day of week, season, date time, *year, survey date, "
        "exam date, visit date, onset date, date on, date off, wave, fiscal year, period",
    ),
    Topic(
        "age",
        "an age",
        _KNOWN,
        Scale.NUMERIC,
        "age, ages, age in years, age years, age group, agegroup, age range, alter, altersgruppe, edad, eta, "
        "idade, leeftijd, l*age de, years old, age at *, months old",
    ),
    Topic(
        "place",
        "a place",
        _KNOWN,
        Scale.NOMINAL,
        "zip, zip code, zipcode, zip three, zcta, postal code, post code, postcode, plz, postleitzahl, code "
        "postal, codigo postal, cap, cep, city, town, village, suburb, borough, district, county, province, "
        "prefecture, canton, state, region, regions, country, nation, municipality, commune, community, parish, "
        "neighbourhood, neighborhood, area, location, residence, place, place of *, metro area, msa, cbsa, puma, "
        "fips, census tract, tract, block group, nuts, lsoa, msoa, local authority, ward, constituency, "
        "continent, geo, geo*, rural, urban, urbanicity, ort, wohnort, geburtsort, stadt, gemeinde, kreis, "
        "landkreis, bezirk, bundesland, land, ville, departement, pays, ciudad, municipio, provincia, estado, "
        "pais, comunidad autonoma, citta, comune, regione, paese, cidade, distrito, regiao, plaats, woonplaats, "
        "gemeente, provincie, regio, hospital, site, school name, employer, south, north, west, east, northeast, "
        "northwest, southeast, southwest, midwest, northern, southern, western, eastern, northcentral, smsa, "
        "metro, metropolitan, suburban, population, city size, town size, born abroad, birth region, neighborhood "
        "id, zone, school id, school system, district id, center id, centre id, distance from home, distance to "
        "*, miles to *, distance, small city, big city, large city, inner city, farm, lives in *, lived in *, "
        "region of *, hometown, home state, home city, home country, birth state, state of *, comm, rurality, "
        "belt, campus, school nr, school num, class nr, class num, lea, central city, center city, institution, "
        "institute",
    ),
    Topic(
        "sex",
        "sex or gender",
        _KNOWN,
        Scale.NOMINAL,
        "sex, gender, gender identity, geschlecht, sexe, genre, sexo, genero, sesso, genere, geslacht, male, "
        "female, man, woman, men, women, boy, girl, masculine, feminine, mann, frau, gender male, gender female, "
        "is male, is female",
    ),
    Topic(
        "origin",
        "origin, nationality or language",
        _KNOWN,
        Scale.NOMINAL,
        "race, races, ethnic*, etni, etnia, etnicidad, etniciteit, ethnie, herkunft, abstammung, origin, "
        "hispanic, ancestry, nationality, nationalit*, nacionalidad*, nazionalita, nacionalidade, nationaliteit, "
        "citizen*, staatsangehorigkeit, burgerschaft, native country, country of birth, birth country, "
        "birthplace, birth place, place of birth, geburtsland, lieu de naissance, lugar de nacimiento, luogo di "
        "nascita, geboorteland, geboorteplaats, immigrant, immigration, migration, migrationshintergrund, visa, "
        "language, mother tongue, sprache, muttersprache, langue, idioma, lengua, lingua, taal, tribe, caste, "
        "indigenous, black, white, asian, latino, latina, latinx, nonwhite, minority, native, foreign, foreigner, "
        "migrant, african american, caucasian, aboriginal, citizen, born in country, indian, hispan*, mestizo, "
        "first language, home language, native speaker, english speaker, foreign born, born in usa, immigration "
        "status, arab, chinese, mexican, puerto rican, cuban, nat origin, skin colo*, complexion",
    ),
    Topic(
        "work",
        "work or occupation",
        _KNOWN,
        Scale.NOMINAL,
        "occupation*, occup*, occu*, occ, profession*, job, jobs, job title, title, work, work class, workclass, "
        "employment, employment status, employ*, labour, labor, labour force, labor force, industry, sector, "
        "rank, position, beruf*, tatigkeit, branche, metier, emploi, ocupacion, profesion, empleo, trabajo, "
        "occupazione, professione, lavoro, impiego, ocupacao, profissao, emprego, trabalho, beroep, baan, isco, "
        "soc code, naics, nace, hours, hours worked, work hours, hours per week, work experience, experience, "
        "working, worker, labour market, unemployed, unemployment, employed, retired, retirement status, "
        "seniority, years of service, manager, managerial, white collar, blue collar, self employed, self emp, "
        "civil servant, military, veteran, full time, fulltime, part time, parttime, shift, participation, years "
        "since phd, discipline, job tenure, craft, services, construction, manufacturing, trade, transport, firm, "
        "plant, company, layoff, displaced, dismissed, jobless*, job level, job role, role, travel, business "
        "travel, commut*, agric*, manuf*, construc*, transport*, over time, overtime, promotion*, years in *, "
        "years at *, years with *, years since *, years of *, working years, working hours, years experience, "
        "companies worked, attrition, turnover, laid off, quit, looking for work, labor status, work status, not "
        "working, out of work, =self, self employment, in labor force, occupational*, overtime hours, night "
        "shift, ceo, executive, supervisor*, farmer, clerical, professional, technician, weeks worked, months "
        "worked, quarters employed, employees, firm size, business, engineer*, industr*, occupation code, "
        "industry code, self emp*, boss, salaried, telework*",
    ),
    Topic(
        "education",
        "education",
        _KNOWN,
        Scale.NOMINAL,
        "education*, educ, educ*, schooling, school, degree, qualification, years of schooling, university, "
        "college, study, field of study, bildung*, schulabschluss, abschluss, ausbildung, studium, diplome, "
        "niveau d etudes, etudes, educacion, estudios, escolaridad, istruzione, titolo di studio, educacao, "
        "escolaridade, opleiding*, onderwijs, grade level, highest grade, diploma, literate, literacy, enrol, "
        "enroll*, enrol*, major, phd, bachelor*, graduate, graduated, grad, student, pupil, teacher*, classroom, "
        "class size, elementary, secondary, high school, course*, kindergarten, qualifications, university "
        "degree, calculus, algebra, tutoring, attend, attendance, attended, homework, years of education, years "
        "education, high grade, highest degree, class rank, rank in class, school type, private school, public "
        "school, school size, college degree, hsgrad, hs grad, some college, collgrad, college grad*, illiterate, "
        "freshman, sophomore, junior, senior, semester, entry year, transfer student, grade in school, "
        "vocational, trained, training, apprentice*, school sector, sophomor*, undergrad*, postgrad*, dropout*, "
        "grade repeated, repeated grade, ged, alevel*, gcse",
    ),
    Topic(
        "family",
        "marriage, family or household",
        _KNOWN,
        Scale.NOMINAL,
        "marital, marital status, marstat, married, marriage, relationship, civil status, spouse, partner, "
        "family, family size, family type, household, household size, household type, hhsize, hh size, number of "
        "children, children, child, kids, num children, dependants, dependents, parity, siblings, twin, "
        "familienstand, kinder, haushalt*, etat civil, situation matrimoniale, situation familiale, enfants, "
        "menage, estado civil, hijos, hogar, stato civile, figli, famiglia, filhos, familia, burgerlijke staat, "
        "kinderen, huishouden*, tenure, dwelling, housing, house type, car, cars, vehicle, vehicles, height, hair "
        "colour, hair color, eye colour, eye color, mother, father, mothers, fathers, parents, parent, husband, "
        "wife, single, divorced, separated, widow*, cohab*, never married, ever married, wed, brother, brothers, "
        "sister, sisters, step*, adopted, orphan*, breadwinner, head of household, household head, birth order, "
        "first child, own home, homeowner*, home ownership, homeownership, owner occupied, residents, adults, "
        "household members, infant, baby, young kids, son, sons, daughter, daughters, lone parent, nuclear, "
        "divorce*, babies, toddlers, teens, teenagers, preteen*, live with *, lives with *, lived with *, kid, "
        "mom, dad, number of kids, family members, family structure, living arrangement*, living together, lives "
        "alone, live alone, housemate*, roommate*, homeless, renter, own or rent, type of home, home, rooms, "
        "bedrooms, guardian, grandparent*, grandchild*, first born, firstborn, only child, multiple birth, "
        "plural*, age of youngest, youngest, hh head, hhmembers, hand, handed*, left handed, right handed, "
        "dominant hand, girlfriend, boyfriend, friends, never mar*, intact family, broken home, stepmother, "
        "stepfather, eldest, oldest child, owner, home owner",
    ),
    Topic(
        "health",
        "health",
        _SECRET,
        Scale.NOMINAL,
        "health, health*, disease*, illness*, sickness, diagnos*, icd, icd code, drg, condition, symptom*, "
        "syndrome, severity, disorder*, hiv, hiv status, aids, cancer*, tumor, tumour, diabetes, diabet*, asthma, "
        "depression, mental, mental health, psych*, disability, disab*, medication*, medicine, drug, drugs, "
        "drug*, treatment*, therapy, surgery, procedure, prescription, dose, allergy, allergies, bmi, body mass "
        "index, body weight, weight kg, weight lb, blood, blood pressure, blood type, blood group, systolic, "
        "diastolic, heart rate, pulse, cholesterol, glucose, hba, creatinine, lab result, test result, pregnan*, "
        "abortion, contracept*, smok*, alcohol*, addiction*, suicid*, vaccin*, genetic*, genotype, genome*, dna, "
        "mutation*, allele, length of stay, los, mortality, cause of death, death, died, krankheit*, erkrankung*, "
        "gesundheit*, behandlung*, medikament*, schwanger*, behinderung, blut*, sante, maladie, traitement, "
        "medicament*, grossesse, handicap, salud, enfermedad*, tratamiento, medicacion, embarazo, discapacidad, "
        "salute, malattia, diagnosi, terapia, farmaco, gravidanza, saude, doenca, gravidez, gezondheid, ziekte, "
        "behandeling, medicijn*, zwanger*, injur*, fracture*, coma, unconscious*, renal, kidney, liver, heart*, "
        "cardiac, cardio*, stroke, hypertens*, infarct*, angina, arthritis, obes*, overweight, infect*, sepsis, "
        "cpr, icu, surg*, transplant*, hosp*, emergency, doctor*, physician*, consult*, visits, clinic*, nurse, "
        "nurs*, sick*, pain*, fever, ache*, migraine*, headache*, nausea, vomit*, chronic*, acute, remission, "
        "relaps*, recur*, metasta*, stage, cancer stage, size of tumor, nodes, node, lymph*, biops*, histol*, "
        "ecog, karno*, meno*, estrogen*, progest*, hormon*, receptor*, platelet*, albumin*, bili*, creat*, "
        "protein*, protime, sodium, potassium, calcium, hemoglobin*, haemoglobin*, hematocrit, leuko*, neutro*, "
        "ferritin, triglycer*, hdl, ldl, insulin, ascites, edema, oedema, hepat*, spiders, bicarb*, oxygen, "
        "respir*, breath*, lung*, dialys*, survival, survived, surv*, futime, dead, alive, deceased, fatal*, "
        "vital status, apgar, gestation*, birth weight, birthweight, bwt, premature, preterm, prenatal, miscarr*, "
        "abort*, fertil*, condom*, weight gain, waist, hip, body fat, bodyfat, skinfold*, memory, cognit*, "
        "dementia, alzheim*, autis*, adhd, anxiety, anxious, stress*, mood, phobia, self harm, trauma*, ptsd, "
        "wound*, burn*, vision, hearing, blind, deaf, limitation*, limited, handicap*, self rated health, "
        "physical activity, exercise*, sleep*, diet*, nutrition*, calor*, vitamin*, placebo, treated, arm, "
        "intervention, patient status, therap*, dosage, toxic*, side effect*, adverse*, complication*, readmi*, "
        "admission type, diagnosed, history of *, serum, plasma, urine, antibod*, cd four, viral load, adl, iadl, "
        "well being, wellbeing, medical*, illness, systol*, diastol*, prescri*, nondrug*, lifestyle, disfigure*, "
        "bronch*, tubercul*, malaria, hpv, unsafe, safe sex, unprotected, num visit*, hospital visit*, hospital "
        "stay*, hospital days, office visit*, outpatient*, inpatient*, substance*, =treat, treatment group, "
        "randomi*, dosage group, sbp, dbp, wbc, rbc, hct, mcv, crp, esr, psa, tsh, bun, ldh, alt, ast, alp, ggt, "
        "lvef, egfr, gfr, spo, fio, trig, copper, urea, uric acid, lactate, troponin, bnp, ejection fraction, "
        "stenosis, lesion*, gleason, ploidy, meno, chemo*, radiat*, radioth*, resect*, operat*, anesth*, "
        "anaesth*, intubat*, ventilat*, cathet*, transfus*, graft*, gvhd, cmv, organ donor, comorbid*, charlson, "
        "cesd, phq, gad, bdi, hamd, hads, mmse, moca, panss, nihss, apache, sofa, nyha, killip, meld, edss, qol, "
        "quality of life, sf score, asa score, rankin, mrs score, tumor*, tumour*, necrosis, stool, bleed*, "
        "hemorrhag*, haemorrhag*, embol*, thromb*, aneurysm*, seizure*, epilep*, cough*, throat*, swallow*, "
        "wheez*, rash, itch*, fatigue, cramps, dizz*, weakness, paraly*, palsy, concuss*, consciousness, amnesia, "
        "gcs, glasgow*, glyc*, ketone*, proteinuria, gestat*, caesar*, cesarean, c section, breastfed, "
        "breastfeeding, lactat*, immuni*, immun, dengue, covid*, test positive, swab, pcr, specimen*, sample "
        "type, biomarker*, assay, titer, titre, bodyweight, arm circ*, girth, bicep*, thigh, wrist, forearm, "
        "calf, pelvic, biacromial, chest, ankle, bone*, progression, progress free, relapse free, response to "
        "treatment, responder, time to death, death time, days to death, fustat, rehosp*, discharge status, "
        "readmission*, nursing home, home care, physical function*, frail*, self care, activities of daily "
        "living, hypert*, hyperl*, cholest*, angio*, valve, bypass, pacemaker, pneumo*, bronchit*, copd, "
        "emphysema, influenza, flu, allerg*, eczema, psoria*, lupus, crohn*, colitis, ulcer*, cirrho*, hepati*, "
        "hcv, hbv, sti, gonorr*, syphil*, chlamyd*, birth control, contraceptive*, steroid*, aspirin, "
        "antibiotic*, opiate*, methadone, iv drug*, needle*, overdose*, detox*, rehab*, obstruct*, perforat*, "
        "adher*, regimen, cohort*, outcome, incision*, blood loss, mri, xray, x ray, scan, gravida, trimester, "
        "premie, preemie, mature, full term, low birth*, nicu, epidural, membranes, induction, temperature, temp, "
        "pulse rate, oxygen*, dysuria, retinop*, laser, visual acuity, acuity, eye, myocard*, stent, valve*, "
        "fibrill*, pedigree, npreg, psychos*, hallucin*, attention deficit, crack, opium, hashish, inject*, "
        "relapsed, remission*, progressed, tolerance, allograft, karyotype, blast, chromosom*, phenotype, "
        "isoenzyme, spleen, marrow, kidney*, prostate, gland, thyroid, liver*, stomach, colon, rectal, skin, "
        "nerve, joint*, back pain, knee, shoulder, hip fracture, spine, mouth, dental, tooth, teeth, gum, "
        "periodont*, plaque index, ear, nose, sinus, medical history, family history, hx *, history, gained, "
        "weight loss, weight change",
    ),
    Topic(
        "money",
        "income, wealth or debt",
        _SECRET,
        Scale.NUMERIC,
        "income, *income, salary, salaries, salary class, wage, wages, pay, paycheck, earning*, bonus, pension*, "
        "benefit*, allowance, tax, taxes, fedtax, federal tax, state tax, income tax, property tax, taxable, "
        "taxinc, taxable income, agi, adjusted gross income, fica, revenue, profit, capital gain, capital loss, "
        "capital, wealth, asset, assets, savings, money, balance, account balance, debt, debts, loan, loans, "
        "mortgage, credit score, credit limit, credit, rent, cost, costs, expense*, expenditure*, charge, "
        "charges, billing*, amount, price, spend*, poverty, bankrupt*, gehalt, lohn, einkommen, *einkommen, "
        "verdienst, rente, steuer*, vermogen, schulden, kredit, miete, kosten, revenu*, salaire, impot*, "
        "patrimoine, dette*, loyer, ingreso*, salario, sueldo, renta, impuesto*, patrimonio, deuda*, alquiler, "
        "reddito, stipendio, imposta*, debito, affitto, rendimento*, renda, ordenado, imposto*, divida*, inkomen, "
        "salaris, loon, belasting*, schuld, huur, fee, fees, fine, fines, payment*, paid, installment*, "
        "instalment*, interest rate, interest, principal, lend*, borrow*, delinq*, default*, overdue, past due, "
        "collection*, utilis*, limit, credit line*, credit lines, inquir*, account, accounts, bank*, ira, stock*, "
        "bonds, fund, funds, dividend*, financ*, investment*, insured, insurance*, coverage, premium*, "
        "deductible*, copay*, subsid*, welfare, food stamp*, foodstamp*, medicaid, medicare, transfer*, grant, "
        "scholarship, financial aid, home value, house value, net worth, networth, equity, consumption, budget*, "
        "lien*, credit card*, cards, purchase*, expenditure share, food share, wealth index, poor, rich, tips, "
        "allowances, earner, earners, unemployment insurance, severance, sales, revenues, worth, contribution*, "
        "donat*, gift, gifts, utiliz*, income class, income group, hourly rate, daily rate, monthly rate, weekly "
        "rate, pay rate, rate of pay, salary hike, pay raise, stock option*, lunch, free lunch, reduced lunch, "
        "home mortgage, applicant income, ability to pay, afford*, donation, spending, net income, disposable "
        "income, poverty line, living wage, minimum wage, remittance*, cash, loan status, credit history, credit "
        "record*, late payment*, arrears, past due*, foreclos*, household expenditure*, total expenditure*, "
        "budget share, share of budget, bills, billed, monthly charges, total charges, contract, premium, policy "
        "amount, claim*, refund*, reimburs*, coinsur*, out of pocket, deny, denied, rejected, applied for credit, "
        "ses, socioeconomic*, social class, welfare*, afdc, food expenditure, wealthy, owns stock*, stocks, dues, "
        "bid, bids, sold, price paid, commission, royalt*, expend*, card",
    ),
    Topic(
        "religion",
        "religion or belief",
        _SECRET,
        Scale.NOMINAL,
        "religio*, faith, belief*, denomination, church, konfession, kirche, glaube, culte, croyance, creencia, "
        "credo, geloof, godsdienst, philosophy, protestant, catholic, jewish, muslim, islam*, hindu, buddhist, "
        "atheist, evangelical, pray*, attend church, churchgo*, born again, religious*, bible, god, church*, "
        "mosque, temple, synagogue, worship, afterlife, secular, protestan*, cathol*, baptis*, lutheran, "
        "methodis*",
    ),
    Topic(
        "politics",
        "politics or union membership",
        _SECRET,
        Scale.NOMINAL,
        "politic*, party, party affiliation, ballot, ideology, union member*, trade union, union, partei, wahl, "
        "gewerkschaft, parti, syndicat, partido, voto, sindicato, partito, sindacato, partij, vakbond, ideol*, "
        "liberal*, conservative*, democrat*, republican*, turnout, elect*, partisan*, left right, lrscale, "
        "president*, government*, unionized, unionised, candidate choice, bush, referend*, vote*, voter*, party "
        "id, view*, views, polit*, presiden*, candidate preference, senator, congress*, speaker, ideology score, "
        "brexit, remain, leave eu, thermometer*, nationalis*, protest*, petition*, demonstrat*, boycott*, "
        "ballot*, labour party, tories, campaign*, activis*, ideo, econom* policy, foreign policy, registered "
        "voter, registered to vote, register to vote",
    ),
    Topic(
        "sexuality",
        "sex life or orientation",
        _SECRET,
        Scale.NOMINAL,
        "sexual*, sexual orientation, orientation, sex life, lgbt*, gay, orientierung, orientacion sexual, "
        "orientamento, orientacao sexual, geaardheid, sex partners, partners lifetime, extramarital, homosex*, "
        "bisexual*, heterosex*, sexually*, num partners, sexual partners, intercourse, sexual risk, sex risk",
    ),
    Topic(
        "crime",
        "crime or justice",
        _SECRET,
        Scale.NOMINAL,
        "crim*, offen[cs]e*, offender, conviction*, convicted, arrest*, sentence, sentenced, prison*, jail, "
        "recidiv*, probation, parole, victim*, violence, police, fraud, straftat*, vorstrafe*, verurteil*, "
        "condamnation, delit*, condena, reato, condanna, crime, condenacao, misdrijf, veroordel*, strafblad, "
        "prior, priors, felon*, misdemean*, charged, guilty, verdict, court, bail, custody, incarcerat*, gang, "
        "weapon*, gun, guns, arrested, citation*, dui, asylum, appeal, decision, jailed, inmate*, delinquent, "
        "rearrest*, crime type, drug offence, property crime, person crime, use of force, force type, misconduct, "
        "released, parolee, punish*, penalt*, stopped, search*, frisk*, warrant*, disposition, plea, sentence "
        "length, time served, served, months served, death penalty, execut*, homicide*, murder*, assault*, "
        "robber*, burglar*, theft*, steal*, stolen, drug use, abuse*, conduct violation*, suspended, suspension*, "
        "expelled, truan*, offense*, juvenile, crime victim, reoffend*, supervision, violent*, nonviolent*",
    ),
    Topic(
        "judgement",
        "how a person was judged",
        _SECRET,
        Scale.NUMERIC,
        "grade, grades, gpa, exam*, test score, score, iq, rating, performance, performance rating, noten, "
        "zeugnis, calificacion, voto di laurea, cijfer, scores, test, tests, tested, math, maths, mathematics, "
        "reading, verbal, quant*, science, writing, spelling, sat, act, gre, toefl, lsat, mark, marks, points, "
        "pass, passed, fail, failed, failure*, aptitude, ability, abilities, skill*, intelligence, knowledge, "
        "appearance, attractive*, beauty, looks, evaluation*, rated, appraisal, prestige, vocab*, comprehension, "
        "assess*, merit, quiz, quizzes, final exam, honors, honours, absences, conduct grade, rater, raters, "
        "reputation, english score, nce, percentile, standardised score, standardized score, achieve*, cutoff "
        "score, admission score, entrance exam, entry score, placement test, placement, trial score, recall, "
        "reaction time, completed, correct, incorrect, errors, know*, callback*, hired, recommended, ranking, "
        "ranked, effort, diligence, behavi*, motivat*, readin, numeracy, wordsum, mental ability, talent, gifted, "
        "remedial, advanced, honor*, credits, creative, agility, involvement, physics, chemistry, biology, "
        "pretest, pre test, posttest, post test, percent correct, visual perception, cubes, paragraph*, addition, "
        "counting, arithmet*, deduct*, numeric reasoning, speed test, learning, skills, language score, "
        "comprehen*, essay*, midterm, final score, competence*, efficiency",
    ),
    Topic(
        "opinion",
        "what a person thinks or feels",
        _SECRET,
        Scale.NOMINAL,
        "opinion*, attitude*, trust*, confidence, satisf*, dissatisf*, happy, happiness, unhappy, agree*, "
        "disagree*, support*, approv*, favor*, favour*, prefer*, concern*, worry, worried, fear*, feel*, "
        "important, importance, willing*, likelihood, status quo, feminis*, toleran*, justif*, personality, "
        "extraver*, neurotic*, conscientious*, openness, self esteem, likert, sentiment, intention*, loyalty, "
        "would recommend, recommend, meinung, zufriedenheit, vertrauen, opinione, opinion publica, satisfaccion, "
        "confianza, fiducia, tevredenheid, vertrouwen, think*, would *, should *, oppose*, allow*, ban, banned, "
        "prefere*, dislike*, hate*, angry, anger*, emotion*, mental state, hope*, optimis*, pessimis*, lonel*, "
        "loneliness, depressed, sad, enthus*, negative affect, positive affect, affect, perceived*, percept*, "
        "self efficacy, stereotyp*, prejudice*, racis*, sexis*, authoritar*, egalit*, moral*, willingness, wtp, "
        "balance of life, life balance, life satisfaction, environmental concern, national pride, justifiable, "
        "accept*, answer*, response, respons*, reply, item*, statement*, question*, belief in *, trait*, "
        "introver*, agreeable*, emotional*, warmth, discriminat*, unfair, fairness, helpful, likes, economic*, "
        "economy, euro attitude, self rated *, self report*, calm, sincere, sociable, nervous, cheerful, "
        "peaceful, energetic, downhearted, tired, restless, curious, organized, disorganized, imaginative, "
        "critical, quarrelsome, reserved, anxious mood, conventional",
    ),
    Topic(
        "conduct",
        "what a person does or uses",
        _SECRET,
        Scale.NOMINAL,
        "drink*, drunk*, beer, wine, liquor, spirits, cig*, cigarette*, cigar*, tobacco, marijuana, cannabis, "
        "cocaine, heroin, opioid*, gambl*, affair, affairs, infidel*, risky, seat belt, seatbelt*, helmet, "
        "television, tv, screen time, internet use, volunteer*, massage, hobby, hobbies, habits, usage, bought, "
        "packets, pack years, packs, lottery, bribe*, cheat*, tv hours, hours of tv, risk, risks, risk taking, "
        "risk score, choice, choices, chosen, choose, chose, select*, opted, opt, news, newspaper*, media, radio, "
        "user, phone use, computer use, internet, social media, facebook use, gaming, games, diet quality, fruit, "
        "vegetable*, coffee, tea, soda, meat, snack*, physical exercise, exer, sport*, walk*, cycling, running, "
        "swim*, hunt*, fish*, leisure, vacation*, shopping, brand, spent, visits to *, trips, attend church, "
        "bedtime, hours of sleep, nap, naps, club*, donor, volunteer, bet, bets, binge*, intoxic*, bottle*, "
        "cheating, texting, driving, speeding, substance use, anysub*, used drugs, phone service, internet "
        "service, online *, streaming*, subscription*, churn, voluntr, computer, gambling, helmet use, seat belt "
        "use, text while driving, physically active, physical education, screen, hours tv",
    ),
    Topic(
        "duration",
        "how long something took",
        _SECRET,
        Scale.NUMERIC,
        "duration*, durat, spell, spells, time, time to *, tottime, total time, days to *, days until *, days "
        "since *, weeks to *, months to *, months until *, months since *, follow, follow up, followup, followup "
        "time, futime, survival time, survtime, event time, time to event, length of *, waiting time, run time, "
        "finish time, lap time, race time, time in *, minutes, weeks, event, event status, censor*, cens, cens*",
    ),
)


CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
WORD = re.compile(r"[^\W\d_]+")
LETTERS = str.maketrans({"ß": "ss", "ø": "o", "ł": "l", "æ": "ae", "œ": "oe", "đ": "d", "ı": "i"})


def words_of(name: str) -> list[str]:
    """The words of a name, in small letters without accents and numbers.

    Example:
        >>> words_of("dateOfBirth"), words_of("Staatsangehörigkeit_2"), words_of("HIV-status")
        (['date', 'of', 'birth'], ['staatsangehorigkeit'], ['hiv', 'status'])
    """
    parted = CAMEL.sub(" ", unicodedata.normalize("NFC", name))
    plain = unicodedata.normalize("NFKD", parted.lower().translate(LETTERS))
    return WORD.findall("".join(one for one in plain if not unicodedata.combining(one)))


@dataclass(frozen=True)
class Phrase:
    """One entry of a vocabulary: words in a row, each of which may begin or end with `*` for any letters.

    After `=` it is the whole of a name.
    """

    text: str  # as it is in the vocabulary

    @cached_property
    def _words(self) -> Sequence[re.Pattern[str]]:
        return [re.compile(one.replace("*", r"\w*")) for one in self.text.split()]

    @cached_property
    def _joined(self) -> re.Pattern[str]:
        return re.compile(self.text.replace(" ", "").replace("*", r"\w*"))

    @cached_property
    def start(self) -> str:
        """Letters that a name with the entry has: those of its last word, up to the first sign of a pattern."""
        return max(re.split(r"[*\[]", self.text.removeprefix("=").split()[-1])[:2], key=len)

    def end(self, words: Sequence[str]) -> int | None:
        """After how many of the words the entry ends, counted from the first; None where it is not there."""
        if self.text.startswith("="):
            return len(words) if list(words) == self.text[1:].split() else None
        ends = [end for end in range(1, len(words) + 1) if self._ends_at(words, end)]
        return ends[-1] if ends else None

    def _ends_at(self, words: Sequence[str], end: int) -> bool:
        start = end - len(self._words)
        in_a_row = start >= 0 and all(
            pattern.fullmatch(word) for pattern, word in zip(self._words, words[start:end], strict=True)
        )
        return in_a_row or self._joined.fullmatch(words[end - 1]) is not None


OPINION = next(one for one in TOPICS if one.key == "opinion")
OPINES = frozenset(  # verbs and nouns that make what follows the object of an opinion: `fear_races`, `trust_police`
    (
        *("fear", "fears", "trust", "feel", "feels", "think", "thinks", "oppose", "support", "approve", "disapprove"),
        *(
            "agree",
            "disagree",
            "angry",
            "anger",
            "prefer",
            "should",
            "would",
            "believe",
            "worry",
            "worried",
            "important",
        ),
        *("importance", "concern", "concerned", "attitude", "opinion", "likes", "dislike", "dislikes", "satisfied"),
    )
)
PHRASES = [(Phrase(text.strip()), topic) for topic in TOPICS for text in topic.words.split(",")]
STARTS = [(phrase.start, phrase, topic) for phrase, topic in PHRASES]


@cache
def topic_of(name: str) -> Topic | None:
    """The topic of a column's name; None where no word is known.

    The last word decides, as it does in English, and of several that end there the longest. The words before `of`
    decide where they say something. Abbreviations are written out if the words as they are say nothing.

    Example:
        >>> topic_of("zip_code").key, topic_of("Geburtsdatum").key, topic_of("salary-class").key, topic_of("x1")
        ('place', 'date', 'money', None)
        >>> topic_of("husage").key, topic_of("lwage76").key
        ('age', 'money')
    """
    words = words_of(name)
    topic = _topic(words)
    if topic is None or len(words) == 1:
        written_out = expanded(words, KNOWN, is_part=any(one.isdigit() for one in name))
        topic = topic if written_out == words else _topic(written_out) or topic
    return topic


def is_spelled_out(name: str) -> bool:
    """Whether the words of a name say what it is without abbreviations that are written out."""
    return _topic(words_of(name)) is not None


def _topic(words: Sequence[str]) -> Topic | None:
    """The topic of words; of those before `of` where they have one, and an opinion where they begin with its verb."""
    if len(words) > 1 and words[0] in OPINES:
        return OPINION
    if "of" in words[1:]:
        before = _topic(words[: words.index("of", 1)])
        whole = max(_candidates(words), key=lambda one: one[:2], default=None)
        is_phrase = whole is not None and whole[3]
        if before is not None and not is_phrase:
            return before
    candidates = _candidates(words)
    return max(candidates, key=lambda one: one[:2])[2] if candidates else None


def _candidates(words: Sequence[str]) -> list[tuple[int, int, Topic, bool]]:
    """For each entry that is there: its end, its letters, its topic, and whether it spans an `of`."""
    matches = []
    letters = " ".join(words)
    for start, phrase, topic in STARTS:
        end = phrase.end(words) if start in letters else None  # most cannot be there, and this is faster than looking
        if end is not None:
            matches.append((end, len(phrase.text.replace("*", "")), topic, " of " in phrase.text))
    return matches


KNOWN = frozenset(
    one
    for phrase, _ in PHRASES
    if phrase.text.isascii()
    for one in (phrase.text, phrase.text.removesuffix("*"))
    if one.removesuffix("*").isalpha()
)
