// The form that endorses a policy: its values, its exposures, and the effective time.
import { useMemo, useState } from 'preact/hooks'
import { type Child, h, part, type View } from '../element.ts'
import { holderOf } from '../find.ts'
import { words } from '../format.ts'
import { current, historyOf, latestOf, termAt, usualStart } from '../knowledge.ts'
import { exposureInFull, isOutlined } from '../large-policies.ts'
import { collapsible, loadedSection } from '../parts.ts'
import { useRebase } from '../reloading.ts'
import { usePromise } from '../use-promise.ts'
import type { Field, Policy, ProductDetail } from '../wire.ts'
import { DESK } from '../words.ts'
import { scopeProvider, withSurroundings } from './allowed.ts'
import type { Scope } from './constraints.ts'
import { type Added, AddedExposures, exposureRequest } from './exposures.ts'
import { Fields } from './fields.ts'
import { beginOf, checkInput, dayInput, dayOf, type Option, selectInput } from './inputs.ts'
import { exposureChanges, type InsuredExposure, InsuredFields, insuredExposures } from './insured.ts'
import { useUploads } from './media.ts'
import type { Faults } from './places.ts'
import { differenceTable, usePreview } from './preview.ts'
import { type ExposureForm, rebasedExposure, rebasedFilled } from './rebase.ts'
import { announceDone, useSubmission } from './submission.ts'
import { policyPath, previewedRequest, TransactionForm, type TransactionProps } from './transactions.ts'
import { changes as changesOf, type Filled, filledFrom } from './values.ts'
import { FORMS } from './words.ts'

/** With more exposures than this, each is collapsed at first. */
const MOST_OPEN = 3

type Changes = {
  readonly policy: Filled
  readonly exposures: Readonly<Record<string, ExposureForm>>
  readonly ended: readonly string[]
  readonly added: readonly Added[]
}

/** The form that endorses a policy. It previews the endorsement before it can be issued or prepared. */
export function Endorse({ policy, product, close }: TransactionProps): View {
  const entries = useEntries(policy, product)
  const previewing = usePreview(policy.locator, product)
  const submission = useSubmission(() => announceDone(DESK.endorsed), product)
  const uploads = useUploads(mediaOf(policy.modifications))
  const { faults } = previewing
  const scope = usePolicyScope(policy, product, entries)
  const effectiveAt = beginOf(entries.from)
  const path = policyPath(policy, 'endorsements')
  const form = part(TransactionForm, {
    title: DESK.endorse,
    policy,
    close,
    kind: 'endorsement',
    previewing,
    submission,
    body: () => endorsementRequest(product, entries),
    confirm: DESK.issueEndorsement,
    mayInvalidate: true,
    isHeldUp: uploads.isUploading || entries.from === '',
    about: preview =>
      differenceTable(policy, preview.policyWhenIssued, product, effectiveAt ?? latestOf(policy)),
    request: (asked, preview) => previewedRequest('POST', path, { ...asked, state: 'issued' }, preview),
    applicationPath: path,
    product,
    children: [
      ...endorsementInputs(product, entries, faults),
      policyInputs(entries, faults, scope),
      exposureInputs(policy, product, entries, faults, scope),
    ],
  })
  const surroundings = { times: timesOf(policy, effectiveAt), jurisdictionField: product.jurisdictionField }
  return withSurroundings(surroundings, uploads.within(form))
}

/** Keeps what the user enters, and the values before it. */
function useEntries(policy: Policy, product: ProductDetail) {
  const fields = product.fields as readonly Field[]
  const [name, setName] = useState(product.endorsements[0]?.name ?? '')
  const [from, setFrom] = useState(dayOf(usualStart(policy)))
  const [reprice, setReprice] = useState(false)
  const before = useMemo(() => {
    const now = latestOf(policy)
    return {
      policy: filledFrom(fields, current(policy.characteristics, now)),
      exposures: insuredExposures(policy.exposures, product, now),
    }
  }, [policy])
  const [changes, setChanges] = useState<Changes>({
    policy: before.policy,
    exposures: {},
    ended: [],
    added: [],
  })
  useRebase(before, (former, now) => setChanges(rebasedChanges(former, changes, now)))
  /** Exposures of a large policy that the user opened, with their perils. */
  const [inFull, setInFull] = useState<Readonly<Record<string, InsuredExposure>>>({})
  const asksReprice = product.endorsements.find(kind => kind.name === name)?.reprice === 'input'
  return {
    fields,
    name,
    setName,
    from,
    setFrom,
    asksReprice,
    reprice,
    setReprice,
    before,
    changes,
    setChanges,
    inFull,
    setInFull,
  }
}

type Before = { readonly policy: Filled; readonly exposures: readonly InsuredExposure[] }

/** Returns the present values with the changes of the user. Changes of exposures and groups that are gone are left out. */
function rebasedChanges(before: Before, { policy, exposures, ended, added }: Changes, now: Before): Changes {
  const isLeft = (locator: string): boolean =>
    now.exposures.some(({ exposure }) => exposure.locator === locator)
  return {
    added,
    policy: rebasedFilled(before.policy, policy, now.policy),
    ended: ended.filter(isLeft),
    exposures: Object.fromEntries(
      now.exposures.flatMap(({ exposure, form }): [string, ExposureForm][] => {
        const { locator } = exposure
        const entered = exposures[locator]
        if (!entered) return []
        const old = before.exposures.find(one => one.exposure.locator === locator)
        // The perils of an exposure of a large policy are not read again. Its changes refer to what was read.
        if (!old || isOutlined(exposure)) return [[locator, entered]]
        return [[locator, rebasedExposure(old.form, entered, form)]]
      }),
    ),
  }
}

type Entries = ReturnType<typeof useEntries>

/** Builds the body of the request: the effective time and everything that differs from the policy. */
function endorsementRequest(product: ProductDetail, entries: Entries): object {
  const { fields, name, from, asksReprice, reprice, before, changes, inFull } = entries
  return {
    endorsementName: name,
    startTimestamp: beginOf(from),
    ...changesOf(fields, before.policy, changes.policy),
    ...exposuresRequest(product, before.exposures, inFull, changes),
    ...(asksReprice && { reprice }),
  }
}

/** Returns the times that rules of fields may depend on, for an endorsement that takes effect at `effectiveAt`. */
function timesOf(policy: Policy, effectiveAt: number | undefined) {
  const history = historyOf(policy)
  const term = termAt(history, history.steps.length - 1, effectiveAt ?? latestOf(policy))
  return {
    policyStartTime: Number(policy.originalContractStartTimestamp),
    termStartTime: term.start,
    transactionEffectiveTime: effectiveAt,
  }
}

/** Returns the values of the policy and its policyholder, on which the choices of inner fields may depend. */
function usePolicyScope(policy: Policy, product: ProductDetail, { fields, changes }: Entries): Scope {
  const holder = useHolder(policy.policyholderLocator)
  return {
    kind: 'policy',
    fields,
    values: changes.policy.values,
    outer: holder && {
      kind: 'policyholder',
      values: holder,
      fields: product.policyholderFields as readonly Field[],
    },
  }
}

/** The inputs of the endorsement itself: its type, its effective day, and whether everything is priced again. */
function endorsementInputs(product: ProductDetail, entries: Entries, faults: Faults): readonly Child[] {
  const { name, setName, from, setFrom, asksReprice, reprice, setReprice } = entries
  return [
    selectInput(
      DESK.endorsementType,
      product.endorsements.map((kind): Option => [kind.name, kind.displayName]),
      name,
      setName,
    ),
    dayInput(DESK.from, from, setFrom, { isRequired: true, fault: faults.get('endorsement.startTimestamp') }),
    asksReprice && checkInput(DESK.reprice, reprice, setReprice),
  ]
}

/** The fields of the policy's own data. */
function policyInputs(entries: Entries, faults: Faults, scope: Scope): Child {
  const { fields, changes, setChanges } = entries
  return h(
    'details',
    { class: 'card', open: true, key: 'policy' },
    h('summary', {}, DESK.ofPolicy),
    scopeProvider(
      scope.outer,
      part(Fields, {
        fields,
        faults,
        place: 'policy',
        kind: 'policy',
        filled: changes.policy,
        change: (filled: Filled) => setChanges({ ...changes, policy: filled }),
      }),
    ),
  )
}

/** The exposures of the policy, followed by those that the endorsement adds. */
function exposureInputs(
  policy: Policy,
  product: ProductDetail,
  { before, changes, setChanges, inFull, setInFull }: Entries,
  faults: Faults,
  scope: Scope,
): Child {
  const exposureInput = (outlined: InsuredExposure): Child => {
    const { locator } = outlined.exposure
    return part(InsuredPart, {
      key: locator,
      policy,
      product,
      now: latestOf(policy),
      insured: inFull[locator] ?? outlined,
      isOpenAtFirst: before.exposures.length <= MOST_OPEN,
      isEnded: changes.ended.includes(locator),
      form: changes.exposures[locator] ?? outlined.form,
      faults,
      keep: insured => setInFull(kept => ({ ...kept, [locator]: insured })),
      change: form => setChanges({ ...changes, exposures: { ...changes.exposures, [locator]: form } }),
      end: isOn =>
        setChanges({
          ...changes,
          ended: isOn ? [...changes.ended, locator] : changes.ended.filter(ended => ended !== locator),
        }),
    })
  }
  return scopeProvider(
    scope,
    before.exposures.map(exposureInput),
    part(AddedExposures, {
      product,
      faults,
      added: changes.added,
      change: (added: readonly Added[]) => setChanges({ ...changes, added }),
    }),
  )
}

/** Builds the request's changes of exposures. `inFull` has the exposures of a large policy that the user opened, by locator. */
function exposuresRequest(
  product: ProductDetail,
  exposures: readonly InsuredExposure[],
  inFull: Readonly<Record<string, InsuredExposure>>,
  changes: Changes,
): object {
  const updates = exposures.flatMap(outlined => {
    const { locator } = outlined.exposure
    if (changes.ended.includes(locator)) return []
    return exposureChanges(inFull[locator] ?? outlined, changes.exposures[locator] ?? outlined.form)
  })
  return {
    ...(updates.length > 0 && { updateExposures: updates }),
    ...(changes.added.length > 0 && {
      addExposures: changes.added.map(added => exposureRequest(product, added)),
    }),
    ...(changes.ended.length > 0 && { endExposures: changes.ended }),
  }
}

type InsuredShown = {
  readonly policy: Policy
  readonly product: ProductDetail
  readonly now: number
  readonly insured: InsuredExposure
  readonly isOpenAtFirst: boolean
  readonly isEnded: boolean
  readonly form: ExposureForm
  readonly faults: Faults
  /** Keeps an exposure of a large policy with its perils, which are read when the user opens it. */
  readonly keep: (insured: InsuredExposure) => void
  readonly change: (form: ExposureForm) => void
  readonly end: (isOn: boolean) => void
}

/** One insured exposure: whether it ends and, if it does not, its fields and perils. */
function InsuredPart(shown: InsuredShown): View {
  const { insured, isEnded, policy, product, now } = shown
  const { exposure, kind } = insured
  const title = `${kind?.displayName ?? words(exposure.name)} ${exposure.displayId}`
  const inside = (): Child => {
    if (isEnded) return false
    if (!isOutlined(exposure)) {
      const { form, faults, change } = shown
      return part(InsuredFields, { insured, form, faults, change })
    }
    return loadedSection(FORMS.loadsPerils, async () => {
      const [read] = insuredExposures([await exposureInFull(policy, exposure)], product, now)
      if (read) shown.keep(read)
      return null
    })
  }
  return collapsible(exposure.locator, shown.isOpenAtFirst, [h('span', {}, title)], () => [
    checkInput(`${DESK.endExposure}: ${title}`, isEnded, shown.end),
    inside(),
  ])
}

/** Returns the policyholder's values, on which choices may depend. Undefined until they are loaded. */
function useHolder(locator: string): Readonly<Record<string, string[]>> | undefined {
  const [asked] = useState(() => holderOf(locator))
  return usePromise(asked).value?.entity.values
}

type Media = Readonly<Record<string, { readonly fileName?: string }>>

const mediaOf = (modifications: readonly { readonly mediaByLocator: Media }[]): Media =>
  Object.assign({}, ...modifications.map(({ mediaByLocator }) => mediaByLocator)) as Media
