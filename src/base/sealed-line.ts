import { createHmac, timingSafeEqual } from 'node:crypto'

/** Data as an invisible line of Markdown that only the holder of a secret can have written. */
export interface SealedLine<T> {
  /** How every such line begins. */
  readonly prefix: string
  write(data: T, secret: string): string
  /** The data in a text; undefined where there is none, or another secret sealed it. What was sealed is ours: its shape is not checked. */
  read(text: string, secret: string): T | undefined
}

/** The lines of one kind. `longest`: characters of their data. */
export function sealedLine<T>(kind: string, longest: number): SealedLine<T> {
  const prefix = `<!-- bailiwick:${kind} `
  const line = new RegExp(`^${prefix}([\\w-]{1,${longest}})\\.([\\w-]{43}) -->$`, 'm')
  const seal = (data: string, secret: string) => {
    const key = createHmac('sha256', secret).update(`bailiwick/${kind}/v1`).digest()
    return createHmac('sha256', key).update(data).digest()
  }
  return {
    prefix,
    write: (data, secret) => {
      const text = Buffer.from(JSON.stringify(data)).toString('base64url')
      return `${prefix}${text}.${seal(text, secret).toString('base64url')} -->`
    },
    read: (text, secret) => {
      const [, data, mac] = line.exec(text.replaceAll('\r\n', '\n')) ?? []
      if (data === undefined || mac === undefined) return undefined
      const [given, wanted] = [Buffer.from(mac, 'base64url'), seal(data, secret)]
      if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined
      return JSON.parse(Buffer.from(data, 'base64url').toString('utf8')) as T
    },
  }
}
