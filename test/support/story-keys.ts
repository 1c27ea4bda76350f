// The naive model's keys for what the service identifies by locators: exposures by their position, perils by exposure, name, and
// how many perils of that name the exposure had before.
import type { Uuid } from '../../src/kernel/locators.ts'
import type { ExposureView, PerilView, PolicyView } from '../../src/policy/projection/policy.ts'

export type Keyed<T> = { readonly key: string; readonly one: T }

/** The view's exposures in the order in which they were added to the policy. */
export const keyedExposures = ({ exposures }: PolicyView): Keyed<ExposureView>[] =>
  [...exposures]
    .sort((a, b) => a.exposure.displayId - b.exposure.displayId)
    .map((one, at) => ({ key: `e${at}`, one }))

export function keyedPerils({ key, one }: Keyed<ExposureView>): Keyed<PerilView>[] {
  const counts = new Map<string, number>()
  return [...one.perils]
    .sort((a, b) => a.peril.displayId - b.peril.displayId)
    .map(view => {
      const { name } = view.peril
      const count = counts.get(name) ?? 0
      counts.set(name, count + 1)
      return { key: `${key} ${name} ${count}`, one: view }
    })
}

/** Locators by key. */
export function locatorsOf(view: PolicyView): ReadonlyMap<string, Uuid> {
  const exposures = keyedExposures(view)
  return new Map([
    ...exposures.map(({ key, one }) => [key, one.exposure.locator] as const),
    ...exposures.flatMap(keyedPerils).map(({ key, one }) => [key, one.peril.locator] as const),
  ])
}
