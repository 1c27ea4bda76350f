// Follows the README and the quickstart as a newcomer: in a folder with nothing but the files of git, runs their commands in order
// and compares the output.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, matchesGlob, relative, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../scripts/free-port.ts'
import { type Typed, typedLines, withoutVariableParts } from '../support/console-blocks.ts'
import { stepsOf, writeStep } from '../support/tutorial.ts'

const folder = mkdtempSync(join(tmpdir(), 'bindery-newcomer-'))
const checkout = join(folder, 'bindery')
const SEPARATOR = '===='

let port: number
let started: ReturnType<typeof spawn>
let printed = ''

/**
 * Copies what a clone has: all files except those that .gitignore names. Does not use git, because a copy without its history is
 * tested too.
 */
function copyCheckout(): void {
  const ignored = ['.', 'client'].flatMap(within =>
    readFileSync(join(within, '.gitignore'), 'utf8')
      .split('\n')
      .filter(Boolean)
      // A pattern with a leading slash matches only in this folder.
      .map(pattern => join(within, pattern.startsWith('/') ? '' : '**', pattern.replace(/\/$/, ''))),
  )
  const isIgnored = (path: string): boolean =>
    ['.git', ...ignored].some(pattern => matchesGlob(path, pattern))
  cpSync('.', checkout, { recursive: true, filter: source => !isIgnored(relative('.', source)) })
  // Instead of `npm ci`, which the gate has run from the same lock file.
  symlinkSync(resolve('node_modules'), join(checkout, 'node_modules'))
}

const environment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  PORT: String(port),
  BASE_URL: `http://localhost:${port}`,
  HOME: folder,
  XDG_CONFIG_HOME: join(folder, '.config'),
  // npx links the checkout into npm's cache, which other processes use at the same time.
  npm_config_cache: join(folder, '.npm'),
  PATH: `${resolve('node_modules/.bin')}:${dirname(process.execPath)}:${process.env.PATH}`,
})

beforeAll(async () => {
  copyCheckout()
  port = await freePort()
  started = spawn('npm', ['start'], { cwd: checkout, env: environment(), stdio: ['ignore', 'pipe', 'pipe'] })
  for (const stream of [started.stdout!, started.stderr!])
    stream.on('data', (chunk: Buffer) => {
      printed += chunk.toString()
    })
  while (!printed.includes('Press Ctrl+C to stop the service')) {
    if (started.exitCode !== null) throw new Error(printed)
    await sleep(100)
  }
})

afterAll(async () => {
  const { launcher } = JSON.parse(readFileSync(join(checkout, 'data/service.json'), 'utf8'))
  process.kill(launcher, 'SIGTERM')
  if (started.exitCode === null) await once(started, 'exit')
  rmSync(folder, { recursive: true, force: true })
})

/** The output of each command. All run in one shell, because later ones use variables of earlier ones. */
async function typed(lines: readonly Typed[]): Promise<string[]> {
  const administrator = /password (\S+) \(shown this once\)/.exec(printed)![1]!
  const script = lines.map(({ command }) => {
    const here = command.replaceAll('http://localhost:8787', `http://localhost:${port}`)
    const password = here.includes('--user alice') ? 'password' : administrator
    const asked = here.startsWith('npx bindery login') ? `echo '${password}' | ${here}` : here
    return `${asked} 2>&1\necho '${SEPARATOR}'\n`
  })
  const shell = spawn('bash', ['-s'], { cwd: checkout, env: environment(), stdio: ['pipe', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [shell.stdout, shell.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  shell.stdin.end(script.join(''))
  await once(shell, 'close')
  return output.split(`${SEPARATOR}\n`).slice(0, -1)
}

/** The expected and the actual output, in the same form. */
async function compared(lines: readonly Typed[]): Promise<[said: string[], printed: string[]]> {
  const outputs = await typed(lines)
  const transcript = (prints: readonly string[]) =>
    lines.map(({ command }, at) => `$ ${command}\n${withoutVariableParts(prints[at] ?? 'NOTHING')}`)
  return [transcript(lines.map(({ prints }) => prints)), transcript(outputs)]
}

const hasPython = spawnSync('python3', ['--version']).status === 0

test('every command of "Five minutes" prints what the README says', async () => {
  const lines = typedLines(readFileSync('README.md', 'utf8'), 'Five minutes')
  expect(lines.length).toBeGreaterThan(12)
  const [said, printed] = await compared(lines)
  expect(printed).toEqual(said)
})

test('the quickstart prints what it says in curl, TypeScript and, if installed, Python', async () => {
  const steps = stepsOf(readFileSync('docs/quickstart.md', 'utf8'))
  const files = steps.filter(step => step.kind === 'file')
  expect(files.map(({ path }) => path)).toEqual(['quickstart.ts', 'quickstart.py'])
  for (const file of files) writeStep(checkout, file)
  const lines = steps
    .filter(step => step.kind === 'command')
    .filter(({ command }) => hasPython || !command.startsWith('python3 '))
  expect(lines.length).toBeGreaterThan(14)
  const [said, printed] = await compared(lines)
  expect(printed).toEqual(said)
})
