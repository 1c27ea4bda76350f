// Files that the browser saves: from the interface, or made here. Addresses of files are secrets for a while, and never in the page.
import { useState } from 'preact/hooks'
import { type Child, h, part, several, type View } from '../element.ts'
import { problemNote } from '../parts.ts'
import { TENANT } from './words.ts'

/** Saves what is at the address, under the name that it is given there if none is given here. */
export function saveFrom(address: string, name = ''): void {
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
}

/** Long enough for every browser to have begun. */
const KEPT_MS = 60_000

export function save(content: Blob, name: string): void {
  const address = URL.createObjectURL(content)
  saveFrom(address, name)
  setTimeout(() => URL.revokeObjectURL(address), KEPT_MS)
}

type Download = {
  readonly text: string
  /** What is said beside it afterwards, if anything is. */
  readonly begin: () => Promise<Child>
}

function DownloadButton({ text, begin }: Download): View {
  const [{ isBusy, said, failure }, show] = useState<{ isBusy: boolean; said?: Child; failure?: unknown }>({
    isBusy: false,
  })
  const start = (): void => {
    if (isBusy) return
    show({ isBusy: true })
    begin().then(
      told => show({ isBusy: false, said: told }),
      (problem: unknown) => show({ isBusy: false, failure: problem }),
    )
  }
  return several(
    h(
      'div',
      { class: 'deeds' },
      h('button', { type: 'button', click: start }, isBusy ? TENANT.downloading : text),
      h('span', { role: 'status', class: 'soft small' }, said),
    ),
    failure !== undefined && problemNote(failure),
  )
}

export const downloadButton = (text: string, begin: () => Promise<Child>): View =>
  part(DownloadButton, { key: text, text, begin })
