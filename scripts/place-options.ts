// `--jurisdiction` and `--location`, as commands take them.
import { isJurisdiction, JURISDICTIONS, LOCATIONS, type Place } from '../src/platform/tenancy/places.ts'
import { Misuse } from './misuse.ts'

/** For `parseArgs`. */
export const PLACE_OPTIONS = {
  jurisdiction: { type: 'string' },
  location: { type: 'string' },
} as const

export type PlaceValues = { readonly jurisdiction?: string; readonly location?: string }

/** The place that the options name, or an empty text; a `Misuse` lists those that there are. */
export function placeOfOptions(values: PlaceValues): Place {
  const { jurisdiction, location } = values
  if (jurisdiction !== undefined && location !== undefined)
    throw new Misuse('A jurisdiction says where data may be; leave --location out.')
  const known: readonly string[] = jurisdiction === undefined ? LOCATIONS : JURISDICTIONS
  const place = jurisdiction ?? location ?? ''
  if (place !== '' && !known.includes(place))
    throw new Misuse(
      `'${place}' is no ${jurisdiction === undefined ? 'location' : 'jurisdiction'}; there are ${known.join(', ')}.`,
    )
  return place as Place
}

/** What the provider's tool is told to make a database there. */
export const placeArguments = (place: Place): string[] =>
  place === '' ? [] : [isJurisdiction(place) ? '--jurisdiction' : '--location', place]
