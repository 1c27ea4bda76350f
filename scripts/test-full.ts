// `npm run test:full`: all tests at the full sizes; their figures go to docs/measured.md with the commit.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { startVitest } from 'vitest/node'

/** A line that a test printed through `measured` (test/support/sizes.ts). */
const MEASURED = /^measured: (.+) = (\S+) (.+)$/gm

const figures: { name: string; value: string; unit: string }[] = []
const vitest = await startVitest('test', [], {
  run: true,
  reporters: [
    'default',
    {
      onUserConsoleLog({ content }) {
        for (const [, name, value, unit] of content.matchAll(MEASURED))
          figures.push({ name: name!, value: value!, unit: unit! })
      },
    },
  ],
})
await vitest.close()

const git = (...words: string[]): string => execFileSync('git', words, { encoding: 'utf8' }).trim()
const commit = git('rev-parse', '--short', 'HEAD')
const changed = git('status', '--porcelain') === '' ? '' : ', with changes that are not committed'
const processors = cpus()
const rows = figures
  .sort((a, b) => (a.name < b.name ? -1 : 1))
  .map(({ name, value, unit }) => `| ${name} | ${value} ${unit} |`)

const passed = vitest.state.getCountOfFailedTests() === 0 && process.exitCode !== 1
if (passed)
  writeFileSync(
    'docs/measured.md',
    `# Measured

Written by \`npm run test:full\`; do not edit. Commit ${commit}${changed}, ${new Date().toISOString().slice(0, 10)},
${processors.length} × ${processors[0]?.model ?? 'processor'}, Node ${process.versions.node}.

| figure | value |
| ------ | ----- |
${rows.join('\n')}
`,
  )
console.log(
  passed ? `docs/measured.md: ${figures.length} figures` : 'docs/measured.md is left as it was: tests failed',
)
if (!passed) process.exitCode = 1
