// The people of the accounts, all of them made up.
import type { Random } from './random.ts'

const FIRST_NAMES = [
  ...['Greta', 'Jonas', 'Aylin', 'Matthias', 'Zoë', 'Björn', 'Fatma', 'Karl-Heinz', 'Anneliese', 'Łukasz'],
  ...['Renée', 'Wolfgang', 'Nguyệt', 'Ingrid', 'Emre', 'Sören', 'Brigitte', 'Mateo', 'Hannelore', 'Ömer'],
]
const LAST_NAMES = [
  ...[
    'Lindner',
    'Krüger',
    'Yıldız',
    'Groß',
    'von der Heide',
    'Weiß',
    'Nowak',
    'Schäfer',
    "O'Neill",
    'Özdemir',
  ],
  ...['Müller-Lüdenscheidt', 'Brandt', 'Jürgens', 'Petersen', 'Trần', 'Hübner', 'Zu Löwenberg', 'Kowalczyk'],
]
const STREETS = [
  'Hauptstraße',
  'Am Mühlbach',
  'Lindenallee',
  'Bahnhofstraße',
  'Gänsemarkt',
  'Straße der Einheit',
]
const TOWNS = [
  ['10115', 'Berlin'],
  ['20354', 'Hamburg'],
  ['80331', 'München'],
  ['50667', 'Köln'],
  ['04109', 'Leipzig'],
  ['01067', 'Dresden'],
  ['79098', 'Freiburg im Breisgau'],
  ['97070', 'Würzburg'],
  ['24103', 'Kiel'],
  ['99084', 'Erfurt'],
] as const
const TRADES = ['Bäckerei', 'Elektro', 'Gartenbau', 'Umzüge', 'Sanitär', 'Malerbetrieb']

export type Person = {
  readonly fullName: string
  /** YYYY-MM-DD. */
  readonly birthDate: string
  readonly values: Record<string, unknown>
}

const two = (number: number): string => String(number).padStart(2, '0')

export const nameOf = (random: Random): string => `${random.pick(FIRST_NAMES)} ${random.pick(LAST_NAMES)}`

/** Of legal age in 2023. */
export const birthDateOf = (random: Random): string =>
  random.chance(0.02)
    ? '1988-02-29'
    : `${random.between(1940, 2003)}-${two(random.between(1, 12))}-${two(random.between(1, 28))}`

export function personOf(random: Random, number: number): Person {
  const [first, last] = [random.pick(FIRST_NAMES), random.pick(LAST_NAMES)]
  const birthDate = birthDateOf(random)
  const [postcode, city] = random.pick(TOWNS)
  const isFirm = random.chance(0.08)
  return {
    fullName: `${first} ${last}`,
    birthDate,
    values: {
      salutation: isFirm ? 'Firma' : random.pick(['Frau', 'Herr', 'Divers']),
      ...(isFirm && { company_name: `${random.pick(TRADES)} ${last} GmbH & Co. KG` }),
      first_name: first,
      last_name: last,
      ...(!isFirm && { date_of_birth: birthDate }),
      ...(random.chance(0.8) && { email: `kunde.${number}@example.com` }),
      ...(random.chance(0.6) && { phone: `+49 30 ${random.between(1_000_000, 9_999_999)}` }),
      street: `${random.pick(STREETS)} ${random.between(1, 180)}${random.chance(0.1) ? 'a' : ''}`,
      postcode,
      city,
      ...(random.chance(0.3) && { children: random.between(0, 4) }),
    },
  }
}
