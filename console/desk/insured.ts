// The exposures of a policy with their perils, and the changes that an endorsement makes to them.
import { type Child, h, part, type View } from '../element.ts'
import { words } from '../format.ts'
import { current, perilSegments, type SpannedPeril } from '../knowledge.ts'
import { collapsible } from '../parts.ts'
import type { Exposure, Field, Peril, ProductDetail } from '../wire.ts'
import { DESK } from '../words.ts'
import { scopeProvider, useOuterScope } from './allowed.ts'
import type { Scope } from './constraints.ts'
import { Fields } from './fields.ts'
import { checkInput } from './inputs.ts'
import { type PerilForm, type PerilKind, perilChanges, perilForm, perilRequest } from './peril-form.ts'
import { ChosenPerils, PerilFields } from './perils.ts'
import type { Faults } from './places.ts'
import type { ExposureForm } from './rebase.ts'
import { changes, type Filled, filledFrom } from './values.ts'
import { FORMS } from './words.ts'

type ExposureKind = ProductDetail['exposures'][number]

type InsuredPeril = { readonly peril: Peril; readonly kind: PerilKind }

export type InsuredExposure = {
  readonly exposure: Exposure
  /** Undefined if the configuration no longer has it. */
  readonly kind: ExposureKind | undefined
  readonly perils: readonly InsuredPeril[]
  /** The form with the values of now. */
  readonly form: ExposureForm
}

const isCovered = <Row extends { readonly endTimestamp: string }>(
  held: Row | undefined,
  now: number,
): held is Row => held !== undefined && Number(held.endTimestamp) > now

/** Returns the exposures and perils that are covered at the time or later. */
export function insuredExposures(
  exposures: readonly Exposure[],
  product: ProductDetail,
  now: number,
): readonly InsuredExposure[] {
  return exposures.flatMap((exposure): InsuredExposure[] => {
    const held = current(exposure.characteristics, now)
    if (!isCovered(held, now)) return []
    const kind = product.exposures.find(one => one.name === exposure.name)
    const found = exposure.perils.flatMap(peril => {
      const perilKind = kind?.perils.find(one => one.name === peril.name)
      const segment: SpannedPeril | undefined = current(perilSegments(peril), now)
      return perilKind && isCovered(segment, now) ? [{ peril, kind: perilKind, segment }] : []
    })
    return [
      {
        exposure,
        kind,
        perils: found,
        form: {
          filled: filledFrom((kind?.fields ?? []) as readonly Field[], held),
          perils: Object.fromEntries(
            found.map(({ peril, kind: perilKind, segment }) => [
              peril.locator,
              perilForm(perilKind, segment),
            ]),
          ),
          endedPerils: [],
          addedPerils: {},
        },
      },
    ]
  })
}

/** Returns what a request sends for the exposure: one update, or none if nothing changed. */
export function exposureChanges(
  { exposure, kind, perils, form: before }: InsuredExposure,
  now: ExposureForm,
): readonly object[] {
  if (!kind) return []
  const updatePerils = perils.flatMap(({ peril: { locator }, kind: perilKind }) => {
    if (now.endedPerils.includes(locator)) return []
    return perilChanges(perilKind, locator, before.perils[locator]!, now.perils[locator]!) ?? []
  })
  const addPerils = kind.perils.flatMap(one => {
    const form = now.addedPerils[one.name]
    return form ? [perilRequest(one, form)] : []
  })
  const update = {
    ...changes(kind.fields as readonly Field[], before.filled, now.filled),
    ...(updatePerils.length > 0 && { updatePerils }),
    ...(addPerils.length > 0 && { addPerils }),
    ...(now.endedPerils.length > 0 && { endPerils: now.endedPerils }),
  }
  return Object.keys(update).length === 0 ? [] : [{ exposureLocator: exposure.locator, ...update }]
}

type InsuredShown = {
  readonly insured: InsuredExposure
  readonly form: ExposureForm
  readonly change: (form: ExposureForm) => void
  readonly faults: Faults
}

export function InsuredFields({ insured, form, change, faults }: InsuredShown): View {
  const { exposure, kind, perils } = insured
  const outer = useOuterScope()
  const fields = (kind?.fields ?? []) as readonly Field[]
  const place = `exposure.${exposure.locator}`
  const scope: Scope = { kind: 'exposure', fields, values: form.filled.values, outer }
  const others = (kind?.perils ?? []).filter(one => !perils.some(({ peril }) => peril.name === one.name))
  const perilNode = ({ peril, kind: perilKind }: InsuredPeril): Child => {
    const { locator } = peril
    const title = perilKind.displayName || words(peril.name)
    const isEnded = form.endedPerils.includes(locator)
    return collapsible(locator, false, [h('span', {}, title)], () => [
      checkInput(`${DESK.endExposure}: ${title} (${exposure.displayId})`, isEnded, isOn =>
        change({
          ...form,
          endedPerils: isOn
            ? [...form.endedPerils, locator]
            : form.endedPerils.filter(one => one !== locator),
        }),
      ),
      !isEnded &&
        part(PerilFields, {
          kind: perilKind,
          form: form.perils[locator]!,
          faults,
          place,
          change: (one: PerilForm) => change({ ...form, perils: { ...form.perils, [locator]: one } }),
        }),
    ])
  }
  return h(
    'div',
    {},
    part(Fields, {
      fields,
      filled: form.filled,
      faults,
      place,
      kind: 'exposure',
      change: (filled: Filled) => change({ ...form, filled }),
    }),
    scopeProvider(
      scope,
      h(
        'fieldset',
        { class: 'perils' },
        h('legend', {}, `${DESK.perils} (${exposure.displayId})`),
        perils.map(perilNode),
        others.length > 0 &&
          part(ChosenPerils, {
            kinds: others,
            chosen: form.addedPerils,
            legend: FORMS.addPerils,
            faults,
            place,
            change: addedPerils => change({ ...form, addedPerils }),
          }),
      ),
    ),
  )
}
