// `npm run test:full`: runs all tests at full size, and writes their figures to docs/measured.md with the commit.
import { startVitest } from 'vitest/node'
import { measuredAt, writeSection } from './measured.ts'

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

const rows = figures
  .sort((a, b) => (a.name < b.name ? -1 : 1))
  .map(({ name, value, unit }) => `| ${name} | ${value} ${unit} |`)

const passed = vitest.state.getCountOfFailedTests() === 0 && process.exitCode !== 1
if (passed)
  writeSection(
    'test-full',
    `## The tests at full size

Written by \`npm run test:full\`. ${measuredAt()}

| figure | value |
| ------ | ----- |
${rows.join('\n')}`,
  )
console.log(
  passed
    ? `docs/measured.md: ${figures.length} figures`
    : 'docs/measured.md was not changed because tests failed',
)
if (!passed) process.exitCode = 1
