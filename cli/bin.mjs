#!/usr/bin/env node
// `npx bindery`, with any version of Node. The command is the service's own TypeScript, which needs the Node of this package
// (node_modules/node). An older Node starts that one and waits for it.
import { spawn } from 'node:child_process'
import nodeModule from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const OLDEST_MAJOR = 24

/**
 * Modules that the service loads as separate files, and their sources (scripts/bundles.ts). A clean clone does not have these
 * files before the first start, and the command does not need separate files.
 */
const BUNDLES = {
  './sandbox.bundle.mjs': '../extension/plugins/runners/program.ts',
  './patterns.bundle.mjs': '../product/fields/pattern-engine.ts',
}

if (Number.parseInt(process.versions.node, 10) < OLDEST_MAJOR) startAnew()
else {
  // A command spends half its time on compiling its own source. The cache keeps the result for the next command; if it cannot be
  // written, Node works without it.
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
  // Ctrl-C reaches both processes. The child decides what it means, and this process ends when the child does.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', problem => {
    console.error(
      `bindery: Node ${OLDEST_MAJOR} of this package did not start (${problem.message}). Run 'npm ci' in the folder of the package.`,
    )
    process.exitCode = 2
  })
  child.on('exit', code => {
    process.exitCode = code ?? 1
  })
}
