// Files that the browser saves, from the interface or created here. The address of a file is a temporary secret and is never in
// the page.
import { useState } from 'preact/hooks'
import { type Child, fragment, h, part, type View } from '../element.ts'
import { problemNote } from '../parts.ts'
import { TENANT } from './words.ts'

/** Saves the file at the address, by default under the name that the service gives it. */
export function saveFrom(address: string, name = ''): void {
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
}

/** Long enough for every browser to begin the download. */
const KEPT_MS = 60_000

export function save(content: Blob, name: string): void {
  const address = URL.createObjectURL(content)
  saveFrom(address, name)
  setTimeout(() => URL.revokeObjectURL(address), KEPT_MS)
}

type Download = {
  readonly text: string
  /** Starts the download. Resolves to a message for the place next to the button, if any. */
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
  return fragment(
    h(
      'div',
      { class: 'button-row' },
      h('button', { type: 'button', click: start }, isBusy ? TENANT.downloading : text),
      h('span', { role: 'status', class: 'soft small' }, said),
    ),
    failure !== undefined && problemNote(failure),
  )
}

export const downloadButton = (text: string, begin: () => Promise<Child>): View =>
  part(DownloadButton, { key: text, text, begin })
