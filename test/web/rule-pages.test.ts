import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MemoryShelf } from '../../src/pages/memory-shelf.ts'
import { PAGE_LIMITS, PageStore } from '../../src/pages/page-store.ts'
import { exampleOf } from '../../src/rules/examples.ts'
import { rules } from '../../src/rules/registry.ts'
import { closedGate } from '../../src/web/gate.ts'
import { Pages } from '../../src/web/pages.ts'

let server: Server
let site: string
beforeAll(async () => {
  const store = new PageStore(new MemoryShelf(PAGE_LIMITS))
  const pages = new Pages({ store, gate: closedGate, queueDepths: async () => [] })
  server = createServer(async (request, response) => {
    if (!(await pages.serve(request, response))) await pages.refuse(request, response, 404)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => server?.close())

async function get(path: string) {
  const response = await fetch(`${site}${path}`, { headers: { accept: 'text/html' } })
  return { status: response.status, page: await response.text() }
}

test('every rule has a page with its example, for everyone', async () => {
  for (const { id } of rules) {
    const { status, page } = await get(`/rules/${id}`)
    expect([id, status]).toEqual([id, 200])
    const example = exampleOf(id)
    if (!example) expect(page, id).toContain('This rule has no short example.')
    else {
      if (example.line > 0)
        expect(page, id).toContain(`<span class="line at"><span class="number">${example.line}</span>`)
      expect(page, id).toContain('<strong>Fix:</strong>')
    }
  }
})

test('a certain edit is shown as a diff', async () => {
  const [id] = rules.flatMap(rule => (exampleOf(rule.id)?.patch ? [rule.id] : []))
  expect((await get(`/rules/${id}`)).page).toContain('The edit, for <code>git apply</code>')
})

test('an unknown rule, and what is no id, have none', async () => {
  for (const path of [
    '/rules/none',
    '/rules/toString',
    '/rules/__proto__',
    '/rules/',
    '/rules/a/b',
    `/rules/${'a'.repeat(101)}`,
  ])
    expect([path, (await get(path)).status]).toEqual([path, 404])
})

test('the list links to the examples and stays below 200 KB; a short list has them folded', async () => {
  const all = await get('/rules')
  expect(Buffer.byteLength(all.page)).toBeLessThan(200_000)
  expect(all.page).toContain('href="/rules/sa-required"')
  expect(all.page).not.toContain('<summary>Example')
  const found = await get('/rules?q=sa-required')
  expect(found.page).toContain('<summary>Example</summary>')
  for (const query of ['a', 'cluster', 'secret', 'policy'])
    expect(Buffer.byteLength((await get(`/rules?q=${query}`)).page), query).toBeLessThan(200_000)
})
