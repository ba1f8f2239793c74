import { request } from 'node:https'
import type { Json } from '../../src/kube/node.ts'
import type { RequestOptions } from './start.ts'

/** What the API server said; the body is text where it is not JSON (/readyz). */
export interface Answer {
  readonly status: number
  readonly body: Json
}

interface Endpoint {
  readonly url: string
  readonly ca: string
  readonly token: string
}

/** One request of the test's administrator; rejects only when there is no answer. Not the code under test on purpose. */
export function adminRequest(
  endpoint: Endpoint,
  method: string,
  path: string,
  body?: Json,
  options: RequestOptions = {},
): Promise<Answer> {
  const headers: Record<string, string | string[]> = {
    Authorization: `Bearer ${endpoint.token}`,
    Accept: 'application/json',
  }
  if (body !== undefined) headers['Content-Type'] = options.contentType ?? 'application/json'
  if (options.impersonate) headers['Impersonate-User'] = options.impersonate
  if (options.groups) headers['Impersonate-Group'] = [...options.groups]
  return new Promise((resolve, reject) => {
    const sent = request(`${endpoint.url}${path}`, { method, headers, ca: endpoint.ca, timeout: 30_000 }, response => {
      const chunks: Buffer[] = []
      response.on('data', chunk => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: parse(Buffer.concat(chunks).toString()) }),
      )
    })
    sent.on('error', reject)
    sent.on('timeout', () => sent.destroy(new Error(`${method} ${path}: no answer in 30 s`)))
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

function parse(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return text // /readyz answers in plain text
  }
}
