// PUT /rows/<count> fills the table, GET /<key> responds with the row of that key.
type Bindings = { DATABASE: D1Database }

const ROWS_AT_ONCE = 20_000

export default {
  async fetch(request: Request, { DATABASE: database }: Bindings): Promise<Response> {
    const { pathname } = new URL(request.url)
    if (pathname === '/health') return new Response('{}')
    const [, first, second] = pathname.split('/')
    if (request.method === 'PUT' && first === 'rows') {
      await fill(database, Number(second))
      return new Response('{}')
    }
    const row = await database.prepare('select key, value from point where key = ?').bind(first).first()
    return row ? Response.json(row) : new Response('{}', { status: 404 })
  },
}

async function fill(database: D1Database, count: number): Promise<void> {
  await database.prepare('create table point (key text primary key, value text not null) without rowid').run()
  for (let from = 0; from < count; from += ROWS_AT_ONCE) {
    const rows = Array.from({ length: Math.min(ROWS_AT_ONCE, count - from) }, (_, at) => [
      `k${from + at}`,
      `${from + at}`,
    ])
    await database
      .prepare('insert into point select value ->> 0, value ->> 1 from json_each(?)')
      .bind(JSON.stringify(rows))
      .run()
  }
}
