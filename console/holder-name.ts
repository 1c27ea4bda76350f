// Names of policyholders, which come when they are known.
import { h } from './dom.ts'
import { holderOf } from './find.ts'
import { personName } from './format.ts'

export function holderName(locator: string): HTMLElement {
  const place = h('span', {}, '…')
  show(place, locator)
  return place
}

const waiting = new WeakMap<Element, string>()

const observer = new IntersectionObserver(entries => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue
    observer.unobserve(target)
    show(target, waiting.get(target)!)
  }
})

/** Asks only when the place comes into sight: for lists with many rows. */
export function lazyHolderName(locator: string): HTMLElement {
  const place = h('span', {}, '…')
  waiting.set(place, locator)
  observer.observe(place)
  return place
}

function show(place: Element, locator: string): void {
  place.classList.add('pending')
  holderOf(locator)
    .then(({ entity }) => personName(entity.values))
    .catch(() => '–')
    .then(name => {
      place.textContent = name
      place.classList.remove('pending')
    })
}
