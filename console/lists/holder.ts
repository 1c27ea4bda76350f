// Names of policyholders in lists: asked for when their row comes into sight, since a page has many.
import { h } from '../dom.ts'
import { holderOf } from '../find.ts'
import { personName } from '../format.ts'

const waiting = new WeakMap<Element, string>()

const observer = new IntersectionObserver(entries => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue
    observer.unobserve(target)
    show(target, waiting.get(target)!)
  }
})

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

export function lazyHolderName(locator: string): HTMLElement {
  const place = h('span', {}, '…')
  waiting.set(place, locator)
  observer.observe(place)
  return place
}
