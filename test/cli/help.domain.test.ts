import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { programOf } from '../../cli/main.ts'
import type { Terminal } from '../../cli/terminal.ts'
import { bindery, binderyWith } from './terminal.ts'

const commandsOf = (command: Command, path: string[] = []): string[][] => [
  path,
  ...command.commands.flatMap(one => commandsOf(one, [...path, one.name()])),
]

const COMMANDS = commandsOf(
  programOf({ out: () => {}, err: () => {} } as unknown as Terminal, async () => {}),
)

describe('the command line', () => {
  test('has exactly these commands', () => {
    expect(COMMANDS.map(path => path.join(' ')).filter(path => path !== '')).toEqual([
      ...[
        'new',
        'check',
        'price',
        'test',
        'try',
        'diff',
        'schema',
        'types',
        'impact',
        'book',
        'book export',
        'report',
        'export',
        'login',
        'deploy',
        'events',
        'events tail',
        'migrate',
        'import',
      ],
    ])
  })

  test.each(COMMANDS.map(path => [path]))(
    'prints help of `bindery %s` within 80 columns and 24 lines, or 40 for the list of all commands',
    async path => {
      const { exit, out } = await bindery(...path, '--help')
      expect(exit).toBe(0)
      const lines = out.trimEnd().split('\n')
      expect(lines.length).toBeLessThanOrEqual(path.length === 0 ? 40 : 24)
      expect(Math.max(...lines.map(line => line.length))).toBeLessThanOrEqual(80)
    },
  )

  test('explains a wrong use and exits with 2', async () => {
    for (const argv of [['chek'], ['check'], ['check', 'a', '--jsn'], ['deploy', '.'], ['migrate'], []]) {
      const { exit, err } = await bindery(...argv)
      expect([argv, exit]).toEqual([argv, 2])
      expect(err).not.toBe('')
    }
    expect((await bindery('chek', 'x')).err).toContain('(Did you mean check?)')
  })

  test.each([
    [['events', 'tial'], "unknown command 'tial'\n(Did you mean tail?)"],
    [['book', 'exprot', '--out', 'x'], "unknown command 'exprot'\n(Did you mean export?)"],
    [['help', 'chek'], "unknown command 'chek'\n(Did you mean check?)"],
    [['chek', '--help'], "unknown command 'chek'\n(Did you mean check?)"],
    [['events', 'tial', '-h'], "unknown command 'tial'\n(Did you mean tail?)"],
  ])('reports the unknown command of %j, also if help is requested', async (argv, mistake) => {
    expect(await bindery(...argv)).toMatchObject({ exit: 2, out: '', err: expect.stringContaining(mistake) })
  })

  test('prints the help of `book` and `events` without a command of theirs, and exits with 2', async () => {
    for (const name of ['book', 'events']) {
      const { exit, err } = await bindery(name)
      expect([exit, err]).toEqual([2, expect.stringContaining(`Usage: bindery ${name} [options] [command]`)])
    }
    expect(await bindery('events', 'tail', '--help')).toMatchObject({ exit: 0 })
  })

  test('says how to sign in and exits with 4 if a command needs a sign-in', async () => {
    const env = { HOME: '/nonexistent' }
    for (const argv of [
      ['deploy', '.', '--tenant', 'a'],
      ['events', 'tail'],
      ['migrate', 'x.json'],
    ]) {
      const { exit, err } = await binderyWith({ env }, ...argv)
      expect(exit).toBe(4)
      expect(err).toContain("Sign in with 'bindery login ADDRESS")
    }
  })

  test('exits with 2 if BINDERY_URL is not an address', async () => {
    const env = { HOME: '/nonexistent', BINDERY_URL: 'bindery.example.com', BINDERY_TOKEN: 'e.e30.x' }
    expect(await binderyWith({ env }, 'deploy', '.', '--tenant', 'a')).toEqual({
      exit: 2,
      out: '',
      err: "bindery: 'bindery.example.com' is not a URL. Give one such as 'https://bindery.example.com'.\n",
    })
  })

  test('prints a failure as JSON with --json', async () => {
    const { exit, out, err } = await bindery('check', 'nowhere', '--json')
    expect(JSON.parse(out)).toEqual({ ok: false, error: "There is no folder 'nowhere'.", exit: 2 })
    expect(err).toBe('')
    expect(exit).toBe(2)
    for (const [argv, error] of [
      [['check'], "missing required argument 'source'"],
      [['chek', 'x'], "unknown command 'chek' (Did you mean check?)"],
      [['check', 'a', '--jsn'], "unknown option '--jsn' (Did you mean --json?)"],
    ] as const) {
      const wrong = await bindery(...argv, '--json')
      expect(JSON.parse(wrong.out)).toEqual({ ok: false, error, exit: 2 })
      expect([wrong.err, wrong.exit]).toEqual(['', 2])
    }
  })

  test('accepts help, help COMMAND, -V and --version like other programs', async () => {
    expect((await bindery('help')).out).toBe((await bindery('--help')).out)
    expect((await bindery('help', 'price')).out).toBe((await bindery('price', '--help')).out)
    for (const option of ['-V', '--version'])
      expect(await bindery(option)).toEqual({ exit: 0, out: '0.1.0\n', err: '' })
  })

  test('prints colours only to a terminal that shows them', async () => {
    expect((await bindery('check', 'examples/motor')).out).not.toContain('\u001b[')
    expect((await binderyWith({ isColored: true }, 'check', 'examples/motor')).out).toContain('\u001b[32m')
  })
})
