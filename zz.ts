import { readFileSync, writeFileSync } from 'node:fs'
import { examplesOf, examplesText } from './scripts/examples/choose.ts'
import { loadRoutes } from './scripts/routes.ts'
const F='src/platform/http/reference/examples.json'
const routes = await loadRoutes()
const ex = examplesOf(routes, JSON.parse(readFileSync(process.argv[2]!,'utf8')), process.argv[3] ? JSON.parse(readFileSync(F,'utf8')) : {})
writeFileSync(F, examplesText(ex))
for (const r of routes) { const e = ex[`${r.method} ${r.path}`]; const needs=(r.body??r.form??r.upload); if (!e || (needs && e.body===undefined) || ((r.answer.schema||r.answer.media) && e.answer===undefined)) console.log('missing', r.method, r.path, !!e?.answer, !!e?.body) }
