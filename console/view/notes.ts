// Notes on the policy. Their form is loaded with the desk.
import type { View } from '../element.ts'
import { desk } from '../open-desk.ts'
import { emptyNote, loadedSection, section } from '../parts.ts'
import type { Policy } from '../wire.ts'
import { DESK } from '../words.ts'
import type { Known } from './view-input.ts'
import { VIEW } from './words.ts'

export const notesView = (policy: Policy, { held }: Known, signal: AbortSignal): View =>
  section(
    DESK.notes,
    held.has('notes.read')
      ? loadedSection(VIEW.loads.notes, async () => {
          const { notesOf } = await desk()
          return await notesOf(policy.locator, held.has('notes.write'), signal)
        })
      : emptyNote(DESK.noPermission),
  )
