import { type Agent, type IncomingMessage, request } from 'node:http'

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Posts over kept connections, which costs a third of what `fetch` does. Rejects when nobody answers or time is up. */
export function post(
  url: string,
  {
    agent,
    headers,
    body,
    signal,
  }: {
    readonly agent: Agent
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
    readonly signal: AbortSignal
  },
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const length = Buffer.byteLength(body)
    const sent = request(url, { method: 'POST', agent, signal, headers: { ...headers, 'content-length': length } })
    sent.on('error', reject)
    sent.on('response', response => read(response).then(resolve, reject))
    sent.end(body)
  })
}

async function read(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = []
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk)
  const headers = Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, String(value)]))
  return { status: response.statusCode ?? 0, headers, body: Buffer.concat(chunks).toString() }
}
