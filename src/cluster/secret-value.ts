import type { Json } from '../kube/node.ts'

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** A value of `data` of a Secret as text; null where its bytes are none. */
export function parseSecretValue(value: Json): string | null {
  try {
    return UTF8.decode(Buffer.from(String(value), 'base64'))
  } catch {
    // the only way in which a decoder says that bytes are no UTF-8
    return null
  }
}
