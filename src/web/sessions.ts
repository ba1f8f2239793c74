import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'
import type { TtlStore } from '../pages/shelf.ts'

/** The session of a signed-in person. */
export interface Session {
  readonly login: string
  /** The person's user-to-server token; secret, and nowhere but here. */
  readonly token: string
  /** When it ends, in ms. */
  readonly until: number
}

/** Eight hours: the lifetime of GitHub's tokens. */
export const SESSION_LIMITS = { ttlMs: 8 * 3_600_000, maxBytes: 32 * 1024 * 1024 }

/**
 * Sessions by random id. Each is encrypted with a key derived from its id and stored under a hash of the id, so reading
 * the store gives access to neither session nor token.
 */
export class Sessions {
  readonly #store: TtlStore

  constructor(store: TtlStore) {
    this.#store = store
  }

  /** Keeps a session and gives the id that finds it again. */
  async open(session: Session): Promise<string> {
    const id = randomBytes(32).toString('base64url')
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', keyFrom(id), nonce)
    const sealed = [nonce, cipher.update(JSON.stringify(session)), cipher.final(), cipher.getAuthTag()]
    await this.#store.put(placeOf(id), Buffer.concat(sealed))
    return id
  }

  /** Undefined for an id that is not known, or whose session is over. */
  async find(id: string): Promise<Session | undefined> {
    const bytes = await this.#store.get(placeOf(id))
    if (!bytes) return undefined
    const decipher = createDecipheriv('aes-256-gcm', keyFrom(id), bytes.subarray(0, 12))
    decipher.setAuthTag(bytes.subarray(-16))
    const text = Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()])
    const session: Session = JSON.parse(text.toString('utf8'))
    return session.until > Date.now() ? session : undefined
  }

  end(id: string): Promise<void> {
    return this.#store.delete(placeOf(id))
  }

  close(): Promise<void> {
    return this.#store.close()
  }
}

function placeOf(id: string): string {
  return createHash('sha256').update(`place ${id}`).digest('hex')
}

function keyFrom(id: string): Buffer {
  return Buffer.from(hkdfSync('sha256', id, '', 'bailiwick session', 32))
}
