import { createHmac, randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'

/** Deliveries as GitHub sends them: of one event, about as large as GitHub's own, each with another branch. */
export class Load {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 256 })
  readonly #url: URL
  readonly #secret: string
  readonly #payload: object

  constructor(web: string, secret: string, payload: object) {
    this.#url = new URL('/api/github/webhooks', web)
    this.#secret = secret
    this.#payload = payload
  }

  /** Sends one and gives the milliseconds since `due`, and whether it was accepted. */
  send(index: number, due = performance.now()): Promise<{ readonly ms: number; readonly ok: boolean }> {
    const ref = `refs/heads/load-${index % 50}`
    const body = JSON.stringify({
      ...this.#payload,
      ref,
      after: index.toString(16).padStart(40, '0').replace(/^0/, 'a'),
    })
    const signature = createHmac('sha256', this.#secret).update(body).digest('hex')
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'x-github-event': 'push',
      'x-github-delivery': randomUUID(),
      'x-hub-signature-256': `sha256=${signature}`,
    }
    return new Promise((resolve, reject) => {
      const sent = request(this.#url, { method: 'POST', agent: this.#agent, headers }, response => {
        response.resume()
        response.on('end', () => resolve({ ms: performance.now() - due, ok: response.statusCode === 200 }))
      })
      sent.on('error', reject)
      sent.end(body)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}

/** What a load came to. */
export interface Acknowledged {
  readonly times: number[]
  readonly failed: number
  readonly perSecond: number
}

/** So many deliveries a second, each at its time whether or not those before it were answered: waiting counts. */
export async function steady(load: Load, perSecond: number, seconds: number): Promise<Acknowledged> {
  const start = performance.now()
  const total = perSecond * seconds
  const answers: ReturnType<Load['send']>[] = []
  while (answers.length < total) {
    const due = start + (answers.length * 1000) / perSecond
    const early = due - performance.now()
    if (early > 0) await new Promise(resolve => setTimeout(resolve, early))
    else answers.push(load.send(answers.length, due))
  }
  return acknowledged(await Promise.all(answers), performance.now() - start)
}

/** As many as are answered in the time by so many clients that each wait for their answer. */
export async function limit(load: Load, clients: number, seconds: number): Promise<Acknowledged> {
  const start = performance.now()
  const answers: Awaited<ReturnType<Load['send']>>[] = []
  const client = async () => {
    while (performance.now() - start < seconds * 1000) answers.push(await load.send(answers.length))
  }
  await Promise.all(Array.from({ length: clients }, client))
  return acknowledged(answers, performance.now() - start)
}

function acknowledged(answers: readonly { ms: number; ok: boolean }[], elapsed: number): Acknowledged {
  return {
    times: answers.map(({ ms }) => ms),
    failed: answers.filter(({ ok }) => !ok).length,
    perSecond: (answers.length / elapsed) * 1000,
  }
}
