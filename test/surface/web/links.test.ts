import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { PAGE_LIMITS, PageStore } from '../../../src/surface/pages/page-store.ts'
import { MemoryTtlStore } from '../../../src/surface/pages/ttl-store.ts'
import { Pages } from '../../../src/surface/web/pages.ts'
import type { Visitor } from '../../../src/surface/web/sign-in.ts'
import { largeFleet } from '../../report/page/large-fleet.ts'
import { samplePage } from './sample-pages.ts'
import { startStagedPages } from './staged-pages.ts'

/** What a crawl visits at most: every page of the sample sites, and some hundred filters of their lists. */
const MAX_VISITS = 400

interface Crawl {
  readonly visited: ReadonlySet<string>
  readonly broken: readonly string[]
}

/** Follows every link of a site from its start, forms and other sites aside. An anchor must be on its page. */
async function crawl(site: string): Promise<Crawl> {
  const from = new Map([[`${site}/`, 'the start']])
  const visited = new Set<string>()
  const anchors = new Map<string, ReadonlySet<string>>()
  const links: (readonly [page: string, address: string, anchor: string])[] = []
  const broken: string[] = []
  for (const [address, by] of from) {
    if (visited.size >= MAX_VISITS) break
    const response = await fetch(address, { headers: { accept: 'text/html' } })
    const page = await response.text()
    visited.add(address.slice(site.length))
    if (response.status !== 200) broken.push(`${by} -> ${address.slice(site.length)}: ${response.status}`)
    anchors.set(address, new Set([...page.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id)))
    for (const [, href = ''] of page.matchAll(/<a [^>]*href="([^"]*)"/g)) {
      const url = new URL(href.replaceAll('&amp;', '&').replaceAll('&#39;', "'"), address)
      if (url.origin !== site) continue
      const target = `${url.origin}${url.pathname}${url.search}`
      links.push([address, target, decodeURIComponent(url.hash.slice(1))])
      if (!from.has(target)) from.set(target, address.slice(site.length))
    }
  }
  for (const [page, target, anchor] of links) {
    const found = anchors.get(target)
    if (anchor !== '' && found && !found.has(anchor)) broken.push(`${page} -> ${target}: no #${anchor}`)
  }
  return { visited, broken: [...new Set(broken)] }
}

test('every link of the pages of an installation leads to a page, and to its section', {
  timeout: 240_000,
}, async () => {
  const { stage } = await startStagedPages()
  try {
    const { visited, broken } = await crawl(stage.site.url)
    expect(broken).toEqual([])
    for (const path of ['/fleets/acme/fleet', '/fleets/acme/fleet/graph']) expect([...visited]).toContain(path)
    expect([...visited].filter(path => path.startsWith('/checks/')).length).toBeGreaterThan(3)
  } finally {
    await stage.close()
  }
})

/** A site with a fleet, and a check, for a reader. */
async function serveTo(reader: Visitor) {
  const { page, pulls } = largeFleet(30)
  const store = new PageStore(new MemoryTtlStore(PAGE_LIMITS))
  await Promise.all([store.keep(page), store.keepPulls(pulls)])
  await store.keep(samplePage())
  const pages = new Pages({ store, gate: { admit: async () => reader }, queueDepths: async () => [] })
  const server = createServer(async (request, response) => {
    if (!(await pages.serve(request, response))) await pages.refuse(request, response, 404)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return { site: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}

test('no link leads a reader to a page that they do not get', { timeout: 120_000 }, async () => {
  const { site, server } = await serveTo({ mayRead: async () => true })
  const { visited, broken } = await crawl(site)
  server.close()
  expect(broken).toEqual([])
  expect(visited.size).toBeGreaterThan(100)
})
