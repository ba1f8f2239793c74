import { createHmac, randomUUID } from 'node:crypto'
import { webhookSecret } from '../config/environment-of.ts'

/** GitHub's signature of a body. */
export function sign(body: string, secret = webhookSecret): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
}

/** The headers that GitHub sends, signed for the body. */
export function headersFor(event: string, body: string): Record<string, string> {
  return {
    'content-type': 'application/json',
    'x-github-event': event,
    'x-github-delivery': randomUUID(),
    'x-hub-signature-256': sign(body),
  }
}

/** What a server answered. */
interface Delivered {
  readonly status: number
  readonly text: string
}

/** Delivers as GitHub does; `changes` replaces headers, `undefined` leaves one out. */
export async function deliver(
  site: string,
  event: string,
  payload: unknown,
  changes: Record<string, string | undefined> = {},
): Promise<Delivered> {
  const body = typeof payload === 'string' ? payload : JSON.stringify(payload)
  const headers = Object.entries({ ...headersFor(event, body), ...changes }).filter(([, value]) => value !== undefined)
  const response = await fetch(`${site}/api/github/webhooks`, {
    method: 'POST',
    body,
    headers: headers as [string, string][],
  })
  return { status: response.status, text: await response.text() }
}

/** A push to main of acme/fleet. */
export function pushPayload(owner = 'acme'): object {
  return {
    ref: 'refs/heads/main',
    after: 'a'.repeat(40),
    deleted: false,
    installation: { id: 7 },
    repository: { name: 'fleet', full_name: `${owner}/fleet`, owner: { login: owner } },
    sender: { login: 'ada', type: 'User' },
  }
}
