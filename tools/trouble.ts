// `npm run trouble [-- --minutes N] [--outage N] [--tenants N] [--think SECONDS] [--only WORD] [--record]`: runs tenants with
// steady traffic while one thing after the other goes wrong. The control database does not respond for `--outage` minutes. Then,
// for `--minutes` each, one tenant's database does not respond, then is full, and then one tenant sends a hundred times as many
// requests as the others. `--only control|away|full|heavy` chooses one of these. The total traffic should be less than the
// machine can handle; adjust it with `--think`. Reports the responses of each, and how long the others waited compared with an
// undisturbed run. With --record, writes it to docs/measured.md. Fails if another tenant was rejected or waited more than twice
// as long.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { controlId } from '../scripts/deployment/needs.ts'
import { databaseFile } from '../scripts/local-databases.ts'
import { CONFIG_FILE } from '../scripts/write-config.ts'
import { quantile } from './bench/figures.ts'
import { receiveEvents } from './bench/load-run/receiver.ts'
import { newAsker, type Sample } from './bench/load-run/samples.ts'
import { makeTenants } from './bench/load-run/tenants.ts'
import { startBurst, startUsers, type Traffic } from './bench/load-run/user.ts'
import { startWorker, stopWorkers } from './bench/worker-process.ts'
import { prepareStores } from './bench/world.ts'
import { measuredAt, writeSection } from './measured.ts'

const say = (line: string): void => console.error(`trouble: ${line}`)

const MINUTE_MS = 60_000
const CONNECTIONS = 128
/** How long to wait after each trouble for its consequences to end. */
const BETWEEN_MS = 20_000
/** After this time, every isolate knows of a change. */
const KNOWN_MS = 11_000
const TIMES = 100
/** How many times as long as undisturbed the others may wait. */
const MOST_RATIO = 2

type Phase = {
  readonly name: string
  readonly minutes: number
  /** Samples of the tenant with the trouble, and of the others. */
  readonly own: readonly Sample[]
  readonly others: readonly Sample[]
}

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '3' },
    outage: { type: 'string', default: '10' },
    tenants: { type: 'string', default: '9' },
    think: { type: 'string', default: '3' },
    only: { type: 'string' },
    record: { type: 'boolean', default: false },
  },
})
const [minutes, outage, count, thinkMs] = [
  Number(values.minutes),
  Number(values.outage),
  Number(values.tenants),
  Number(values.think) * 1_000,
] as const
if (![minutes, outage, count, thinkMs].every(number => number > 0))
  throw new Error('--minutes, --outage, --tenants and --think must be numbers above 0.')

async function run(folder: string): Promise<Phase[]> {
  const administrator = await prepareStores(folder, count)
  const service = await startWorker({
    config: CONFIG_FILE,
    script: 'tools/bench/trouble/worker.ts',
    dataFolder: folder,
  })
  const receiver = await receiveEvents()
  const tenants = await makeTenants(service.origin, administrator, count, receiver.origin)
  const [one, ...rest] = tenants
  const control = new DatabaseSync(databaseFile(folder, controlId(readFileSync('wrangler.toml', 'utf8'))), {
    timeout: 30_000,
  })
  const { locator, binding } = control
    .prepare(
      `select tenant.locator, shard.binding from tenant join shard on shard.tenant_locator = tenant.locator where tenant.name like '%' || ?`,
    )
    .get(one!.name) as { locator: string; binding: string }
  const kill = async (...names: string[]): Promise<void> => {
    await fetch(`${service.origin}/trouble?${names.map(name => `dead=${name}`).join('&')}`)
  }
  const quota = (bytes: number | undefined): void => {
    control
      .prepare('update tenant set quotas = ? where locator = ?')
      .run(JSON.stringify(bytes === undefined ? {} : { databaseBytes: bytes }), locator)
  }
  const [own, others] = [newAsker(service.origin, CONNECTIONS), newAsker(service.origin, CONNECTIONS)]
  let seed = 0
  const seeds = (): number => {
    seed += 1
    return seed
  }
  const traffic = [startUsers(own.ask, [one!], seeds, thinkMs), startUsers(others.ask, rest, seeds, thinkMs)]
  const phases: Phase[] = []
  const watch = async (
    name: string,
    forMinutes: number,
    begin: () => Promise<void>,
    end: () => Promise<void>,
  ) => {
    say(name)
    await begin()
    const [ownBefore, othersBefore] = [own.samples.all.length, others.samples.all.length]
    await sleep(forMinutes * MINUTE_MS)
    phases.push({
      name,
      minutes: forMinutes,
      own: own.samples.all.slice(ownBefore),
      others: others.samples.all.slice(othersBefore),
    })
    await end()
    await sleep(BETWEEN_MS)
  }
  const isWanted = (word: string): boolean => values.only === undefined || values.only === word
  const nothing = async (): Promise<void> => {}
  // Waits until isolates, objects and statements are warm.
  await sleep(BETWEEN_MS)
  await watch('undisturbed', minutes, nothing, nothing)
  if (isWanted('control'))
    await watch('the control database does not respond', outage, () => kill('CONTROL'), kill)
  if (isWanted('away'))
    await watch('the database of one tenant does not respond', minutes, () => kill(binding), kill)
  if (isWanted('full'))
    await watch(
      'the database of one tenant is full',
      minutes,
      async () => {
        quota(1)
        await sleep(KNOWN_MS)
      },
      async () => quota(undefined),
    )
  let heavy: Traffic | undefined
  if (isWanted('heavy'))
    await watch(
      `one tenant sends ${TIMES} times as many requests as each of the others`,
      minutes,
      async () => {
        const [undisturbed] = phases
        const perSecond = undisturbed!.others.length / rest.length / (minutes * 60)
        heavy = startBurst(own.ask, [one!], seeds, thinkMs, perSecond * TIMES, () => own.samples.begun)
      },
      async () => await heavy?.stop(),
    )
  await watch('undisturbed again', minutes, nothing, nothing)
  for (const users of traffic) await users.stop()
  control.close()
  own.close()
  others.close()
  receiver.close()
  await service.stop()
  return phases
}

const isSuccess = ({ status }: Sample): boolean => status >= 200 && status < 300

/** Formats the counts of responses: `2xx 12, 503 3`. */
const answersOf = (samples: readonly Sample[]): string =>
  [...Map.groupBy(samples, one => (isSuccess(one) ? '2xx' : String(one.status)))]
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([status, all]) => `${status} ${all.length}`)
    .join(', ') || 'none'

const msOf = (samples: readonly Sample[], share: number): number =>
  quantile(
    samples.map(({ latencyMs }) => latencyMs),
    share,
  )

function report(phases: readonly Phase[]): { markdown: string; problems: string[] } {
  const usual = msOf(phases[0]!.others, 0.99)
  const rows = phases.map(({ name, minutes: took, own, others }) => {
    const p99 = msOf(others, 0.99)
    return `| ${name} | ${took} | ${answersOf(own)} | ${answersOf(others)} | ${msOf(others, 0.5).toFixed(0)} | ${p99.toFixed(0)} | ${(p99 / usual).toFixed(2)} |`
  })
  const problems = phases.flatMap(({ name, others }) => [
    ...(others.every(isSuccess) ? [] : [`${name}: requests of other tenants failed`]),
    ...(msOf(others, 0.99) > MOST_RATIO * usual
      ? [`${name}: other tenants waited at least ${MOST_RATIO} times as long`]
      : []),
  ])
  return {
    markdown: `## Trouble${values.only === undefined ? '' : `: ${values.only}`}

\`npm run trouble -- --record\`. ${measuredAt()}

${count} tenants with steady traffic on one machine, whose users pause for ${values.think} s. One of the tenants has the trouble. The ratio is the p99 of the others divided by that of the undisturbed run.

| trouble | minutes | responses to that tenant | responses to the others | p50 ms | p99 ms | ratio |
| --- | ---: | --- | --- | ---: | ---: | ---: |
${rows.join('\n')}`,
    problems,
  }
}

const folder = mkdtempSync(join(tmpdir(), 'bindery-trouble-'))
const cleanUp = async (): Promise<void> => {
  await stopWorkers()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => void cleanUp().finally(() => process.exit(130)))
try {
  const { markdown, problems } = report(await run(folder))
  console.log(markdown)
  if (values.record) writeSection(values.only === undefined ? 'trouble' : `trouble-${values.only}`, markdown)
  for (const problem of problems) say(problem)
  process.exitCode = problems.length > 0 ? 1 : 0
} finally {
  await cleanUp()
}
