// Installs the tarballs of `npm run package` without a network into an otherwise empty project, and uses them there.
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tarballOf } from '../../scripts/packages.ts'

const run = promisify(execFile)
const MEBIBYTE = 1_024 * 1_024

let project: string
const inProject = (file: string, ...args: string[]) => run(file, args, { cwd: project })
const bindery = (...args: string[]) =>
  inProject(process.execPath, 'node_modules/bindery-cli/bin.mjs', ...args)

beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), 'bindery-project-'))
  writeFileSync(join(project, 'package.json'), '{ "name": "project", "private": true, "type": "module" }')
  await run(process.execPath, ['scripts/packages.ts'])
  const tarballs = ['bindery', 'bindery-cli'].map(name => resolve(tarballOf(name)))
  await inProject('npm', 'install', '--offline', '--no-audit', '--no-fund', ...tarballs)
})
afterAll(() => rmSync(project, { recursive: true, force: true }))

const installed = (name: string): string => join(project, 'node_modules', name)

function filesOf(name: string): { path: string; bytes: number }[] {
  const folder = installed(name)
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .map(path => ({ path: path.slice(folder.length + 1), bytes: statSync(path).size }))
}

const sizeOf = (name: string): number => filesOf(name).reduce((sum, { bytes }) => sum + bytes, 0)

/** The code blocks of a language in the README of a package. */
function samplesOf(name: string, language: string): string[] {
  const text = readFileSync(join(installed(name), 'README.md'), 'utf8')
  return [...text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(
    ([, block]) => block!,
  )
}

describe('The packages', () => {
  test('have no dependencies', () => {
    const others = readdirSync(join(project, 'node_modules')).filter(name => !name.startsWith('.'))
    expect(others.sort()).toEqual(['bindery', 'bindery-cli'])
  })

  test('are small', () => {
    expect(sizeOf('bindery')).toBeLessThan(2 * MEBIBYTE)
    expect(sizeOf('bindery-cli')).toBeLessThan(4 * MEBIBYTE)
    expect(filesOf('bindery').length).toBeLessThan(20)
    expect(statSync(tarballOf('bindery')).size).toBeLessThan(0.25 * MEBIBYTE)
  })

  test.each(['bindery', 'bindery-cli'])(
    'have a README, changes, licenses and the version of this checkout: %s',
    name => {
      const files = filesOf(name).map(({ path }) => path)
      expect(files).toEqual(expect.arrayContaining(['README.md', 'CHANGELOG.md', 'package.json']))
      expect(files.some(path => path.endsWith('THIRD-PARTY.txt'))).toBe(true)
      const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
      expect(JSON.parse(readFileSync(join(installed(name), 'package.json'), 'utf8')).version).toBe(version)
      const readme = readFileSync(join(installed(name), 'README.md'), 'utf8')
      expect(readme).toContain(`npm install ./${name}-${version}.tgz`)
    },
  )
})

describe('The client package', () => {
  test('calls a service with the program of its README, and throws its errors', async () => {
    const asked: string[] = []
    const server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`)
      response.setHeader('content-type', 'application/json')
      if (request.url === '/account/authenticate') response.end('{"authorizationToken":"a.e30.c"}')
      else if (request.method === 'POST') response.end('{"entity":{"values":{"last_name":["Keller"]}}}')
      else response.writeHead(404).end('{"code":"notFound","httpErrorCode":404,"message":"There is none."}')
    }).listen(0, '127.0.0.1')
    try {
      await new Promise(done => server.once('listening', done))
      const { port } = server.address() as AddressInfo
      const [sample] = samplesOf('bindery', 'ts')
      const program = sample!
        .replace('http://localhost:8787', `http://127.0.0.1:${port}`)
        .replace(/, type \w+/, '')
        .replace(/: PolicyholderCreateRequest/, '')
      writeFileSync(join(project, 'program.mjs'), program)
      const { stdout } = await inProject(process.execPath, 'program.mjs')
      expect(stdout).toBe('made Keller\nnotFound: GET /policy/999999999 responded with 404: There is none.\n')
      expect(asked).toEqual([
        'POST /account/authenticate',
        'POST /policyholder/create',
        'GET /policy/999999999',
      ])
    } finally {
      server.close()
    }
  })

  test.each(['nodenext', 'bundler'])(
    'has types that need no other package with module resolution %s',
    async moduleResolution => {
      writeFileSync(join(project, 'program.ts'), samplesOf('bindery', 'ts')[0]!)
      const compilerOptions = {
        target: 'es2022',
        lib: ['es2022', 'dom', 'dom.asynciterable'],
        types: [],
        strict: true,
        module: moduleResolution === 'nodenext' ? 'nodenext' : 'esnext',
        moduleResolution,
        noEmit: true,
        skipLibCheck: false,
      }
      const files = ['program.ts']
      writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
      const compiler = resolve('node_modules/typescript/bin/tsc')
      const said = await inProject(process.execPath, compiler, '-p', '.').catch(problem => problem)
      expect(said.stdout).toBe('')
    },
  )
})

describe('The command line package', () => {
  test('runs the commands of its README that need no service', async () => {
    const commands = samplesOf('bindery-cli', 'sh')[0]!
      .split('\n')
      .filter(line => line.startsWith('npx bindery '))
      .map(line => line.split(' ').slice(2))
    expect(commands.map(([name]) => name)).toEqual(['new', 'check', 'price', 'test'])
    for (const command of commands) await bindery(...command)
    const { stdout } = await bindery('price', 'bicycle', '--policy', 'bicycle/policy.json')
    expect(stdout).toContain('281.55')
  })

  test('runs plugins, and prints the type declarations and JSON schemas for editors', async () => {
    const motor = resolve('examples/motor')
    const { stdout } = await bindery('price', motor, '--policy', join(motor, 'worked.json'))
    expect(stdout).toContain('underwriting')
    expect((await bindery('types')).stdout).toContain('declare namespace Bindery')
    expect((await bindery('schema')).stdout).toContain('config.json')
    expect((await bindery('--version')).stdout.trim()).toBe(
      JSON.parse(readFileSync('package.json', 'utf8')).version,
    )
  })
})
