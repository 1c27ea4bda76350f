#!/usr/bin/env node
// `npx bindery`, with whatever Node there is. What runs is the service's own TypeScript, which takes the Node of this package
// (node_modules/node); an older one starts that and steps aside.
import { spawn } from 'node:child_process'
import nodeModule from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const OLDEST_MAJOR = 24

/**
 * Modules that the service loads as files of their own, and what they are made of (scripts/bundles.ts). A clean clone has no such
 * files before the first start, and nothing here needs them to be apart.
 */
const BUNDLES = {
  './sandbox.bundle.mjs': '../extension/plugins/program.ts',
  './patterns.bundle.mjs': '../product/fields/pattern-engine.ts',
}

if (Number.parseInt(process.versions.node, 10) < OLDEST_MAJOR) startAnew()
else {
  // Half of what a command takes is to read its own source, of which the next finds the result; where it cannot be kept, nothing is.
  nodeModule.enableCompileCache(
    join(import.meta.dirname, '..', 'node_modules', '.cache', 'bindery', 'compiled'),
  )
  nodeModule.registerHooks({
    resolve: (specifier, context, next) => next(BUNDLES[specifier] ?? specifier, context),
  })
  const { main } = await import('./main.ts')
  process.exitCode = await main()
}

function startAnew() {
  const program = join(
    dirname(nodeModule.createRequire(import.meta.url).resolve('node/package.json')),
    'bin',
    'node',
  )
  const child = spawn(program, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: 'inherit',
  })
  // Ctrl-C reaches both; the other decides what it means, and this one ends as that does.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', problem => {
    console.error(
      `bindery: Node ${OLDEST_MAJOR} of this package does not start (${problem.message}). Run npm ci there.`,
    )
    process.exitCode = 2
  })
  child.on('exit', code => {
    process.exitCode = code ?? 1
  })
}
