import { createPublicKey, verify } from 'node:crypto'
import type { Actor, App, World } from '../world.ts'
import { HttpError } from './http-error.ts'

/** Clocks may differ a little: GitHub takes an `iat` up to a minute ahead. */
const CLOCK_SKEW = 60
const LONGEST_LIFE = 600

/** Who sends a request. Throws 401 for what is not a valid token: never falls back to somebody. */
export function authenticate(world: World, header: string | undefined): Actor {
  if (header === undefined) return { kind: 'anonymous' }
  const match = /^(?:bearer|token)\s+(\S+)$/i.exec(header)
  const token = match?.[1]
  if (token === undefined) throw new HttpError(401, 'Bad credentials')
  if (token.split('.').length === 3) return { kind: 'app', app: verifyJwt(world, token) }
  const known = world.tokens.get(token)
  if (!known || known.expires <= Date.now()) throw new HttpError(401, 'Bad credentials')
  if (known.actor.kind === 'installation' && !world.installations.has(known.actor.installation.id)) {
    throw new HttpError(401, 'Bad credentials')
  }
  if (known.actor.kind === 'installation' && known.actor.installation.suspended) {
    throw new HttpError(403, 'This installation has been suspended')
  }
  return known.actor
}

function verifyJwt(world: World, token: string): App {
  const [head, claims, signature] = token.split('.') as [string, string, string]
  const undecodable = new HttpError(401, 'A JSON web token could not be decoded')
  const { alg } = decode(head) ?? {}
  const { iss, iat, exp } = decode(claims) ?? {}
  const app = [...world.apps.values()].find(known => String(known.id) === String(iss) || known.clientId === iss)
  if (alg !== 'RS256' || !app) throw undecodable
  const signed = Buffer.from(`${head}.${claims}`)
  if (!verify('sha256', signed, createPublicKey(app.privateKey), Buffer.from(signature, 'base64url'))) throw undecodable
  const time = Date.now() / 1000
  if (typeof exp !== 'number') throw new HttpError(401, "'Expiration time' claim ('exp') must be a numeric value")
  if (exp <= time) throw new HttpError(401, "'Expiration time' claim ('exp') must be in the future")
  if (exp > time + LONGEST_LIFE + CLOCK_SKEW) {
    throw new HttpError(401, "'Expiration time' claim ('exp') is too far in the future")
  }
  if (typeof iat !== 'number' || iat > time + CLOCK_SKEW) {
    throw new HttpError(
      401,
      "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
    )
  }
  return app
}

function decode(part: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>
  } catch {
    return undefined
  }
}
