// One checker for all runs. It is given everything that a run left, and returns what is wrong with it.
import { events } from './checks/events.ts'
import { files } from './checks/files.ts'
import { policies } from './checks/policies.ts'
import { wishes } from './checks/wishes.ts'
import type { Wish } from './client.ts'
import type { Contents } from './contents.ts'
import type { Violation } from './violation.ts'

export const violationsOf = (contents: Contents): Violation[] => [
  ...wishes(contents),
  ...policies(contents),
  ...events(contents),
  ...files(contents),
]

const line = ({ number, kind, asked, tries, outcome, refusal }: Wish): string =>
  `  ${number}. ${kind}: ${asked.method} ${asked.path} [${tries.join(', ')}] ${outcome}${refusal ? ` (${refusal})` : ''}`

/** The stories of all violations, the shortest first. */
export function storiesOf(contents: Contents): string[] {
  const lines = (story: string): number => story.split('\n').length
  return violationsOf(contents)
    .map(one => storyOf(contents, one))
    .sort((a, b) => lines(a) - lines(b))
}

/** Describes a violation, with only what clients did to the policy where it was found. */
function storyOf(contents: Contents, { says, wish, policy }: Violation): string {
  const about = policy ?? wish?.policy
  const told = contents.ledger.filter(
    one =>
      one === wish ||
      (about !== undefined &&
        (one.policy === about ||
          (one.kind === 'create policy' && (one.answers[0] as { locator?: string })?.locator === about))),
  )
  const until = wish ? told.filter(({ number }) => number <= wish.number) : told
  const head = [about === undefined ? '' : `policy ${about}: `, wish ? `wish ${wish.number}: ` : '', says]
  return [head.join(''), ...until.map(line)].join('\n')
}
