import type { BinderyClient, components, paths } from '../../client/index.ts'
import { now } from '../../src/kernel/time.ts'
import { EXIT, type ExitCode, usage } from '../exit.ts'
import { signedIn } from '../sign-ins.ts'
import { pause, type Run, show, type Terminal } from '../terminal.ts'

export type TailOptions = { since?: string; type?: string; once?: boolean }

type Query = NonNullable<paths['/eventstream/attributedEvents']['get']['parameters']['query']>

/** The wait for more events at the end of the stream. */
const POLL_MS = 1_000
const PAGE_SIZE = 500

/** `bindery events tail`: prints events as they happen, until Ctrl-C. */
export async function tailEvents({ since, type, once }: TailOptions, run: Run): Promise<ExitCode> {
  const { terminal } = run
  const { api } = signedIn('tenant', terminal)
  let query: Query = {
    startTimestamp: String(since === undefined ? now() : timeOf(since)),
    ...(type !== undefined && { eventType: type }),
    pageSize: PAGE_SIZE,
  }
  // The clock of a test tenant may be ahead, so that past events are later than `now`. Without `--since`, only events after the
  // end of the stream count as new.
  let isNew = since !== undefined
  while (!terminal.interrupted.aborted) {
    const page = await pageOf(query, api, terminal)
    if (!page) return EXIT.ok
    const { events, pagingToken } = page
    query = { pagingToken: pagingToken! }
    if (isNew) for (const event of events) show(run, event, () => eventText(event, run))
    if (events.length > 0) continue
    isNew = true
    if (once) return EXIT.ok
    await pause(POLL_MS, terminal)
  }
  return EXIT.ok
}

/** Returns undefined if Ctrl-C came first. */
async function pageOf(
  query: Query,
  api: BinderyClient,
  { interrupted }: Terminal,
): Promise<components['schemas']['EventPageResponse'] | undefined> {
  try {
    return await api.get('/eventstream/attributedEvents', { params: { query } })
  } catch (problem) {
    if (interrupted.aborted) return undefined
    throw problem
  }
}

const UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Reads a time, or a duration before now, as milliseconds. */
function timeOf(text: string): number {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  const at = unit ? now() - Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS] : Date.parse(text)
  if (Number.isNaN(at))
    throw usage(
      `'${text}' is not a time. Write '2026-11-22T08:00:00Z', or a duration before now such as '90s', '15m', '2h' or '7d'.`,
    )
  return at
}

function eventText(event: components['schemas']['Event'], { terminal: { colors } }: Run): string {
  const at = new Date(Number(event.timestamp)).toISOString().replace('T', ' ').slice(0, 19)
  const data = Object.entries(event.data)
    .map(([name, value]) => `${colors.dim(`${name}=`)}${value}`)
    .join(' ')
  const who = event.username === undefined ? '' : colors.dim(` by ${event.username}`)
  return `${colors.dim(at)}  ${colors.cyan(event.type.padEnd(28))}  ${data}${who}\n`
}
