import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Chance } from './story.ts'

/** Carries deliveries to the web process as a bad network does: some twice, some late and so behind later ones. */
export interface Postman {
  readonly url: string
  readonly carried: { deliveries: number; twice: number; late: number; refused: number }
  /** Resolves when nothing is under way. */
  idle(): Promise<void>
  close(): Promise<void>
}

const LATE_MS = 700

/** A late one was acknowledged already, so it is carried until it is taken; a refused one is GitHub's to list as failed. */
export async function startPostman(web: string, next: Chance): Promise<Postman> {
  const carried = { deliveries: 0, twice: 0, late: 0, refused: 0 }
  const under = new Set<Promise<unknown>>()
  let open = true
  const track = (work: Promise<unknown>) => {
    under.add(work)
    void work.finally(() => under.delete(work))
  }
  const carry = async (body: Buffer, headers: IncomingHttpHeaders): Promise<number> => {
    const kept = Object.entries(headers).filter(([name]) => name.startsWith('x-') || name === 'content-type')
    const init = { method: 'POST', body: new Uint8Array(body), headers: kept as [string, string][] }
    return fetch(`${web}/api/github/webhooks`, init).then(
      ({ status }) => status,
      () => 502,
    )
  }
  const later = async (body: Buffer, headers: IncomingHttpHeaders) => {
    await pause(next(LATE_MS))
    while (open && (await carry(body, headers)) !== 200) await pause(200)
  }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    carried.deliveries++
    const what = next(10)
    if (what === 0) {
      carried.twice++
      track(later(body, request.headers))
    }
    if (what === 1) {
      carried.late++
      track(later(body, request.headers))
      return void response.writeHead(200).end()
    }
    const status = await carry(body, request.headers)
    if (status !== 200) carried.refused++
    response.writeHead(status).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/api/github/webhooks`,
    carried,
    idle: async () => {
      while (under.size > 0) await Promise.all(under)
    },
    close: async () => {
      open = false
      await Promise.all(under)
      server.closeAllConnections()
      await new Promise<void>(resolve => server.close(() => resolve()))
    },
  }
}

export const pause = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))
