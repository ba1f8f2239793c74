import { resolve } from 'node:path'
import { BailiwickError } from '../errors.ts'
import { normaliseUrl } from '../kube/url.ts'

/** Where the content of another source lies. */
export interface GivenRepository {
  readonly url: string
  /** Branch, tag or commit; absent: whatever the source follows. */
  readonly ref?: string
  readonly dir: string
}

/** Reads `URL[#REF]=DIR`; an address has no "=", so the first one divides. Throws `usage`. */
export function givenRepository(text: string, cwd: string): GivenRepository {
  const equals = text.indexOf('=')
  const [url = '', ...rest] = text.slice(0, Math.max(0, equals)).split('#')
  const ref = rest.join('#')
  const dir = text.slice(equals + 1)
  if (equals < 0 || url === '' || dir === '' || (rest.length > 0 && ref === '')) {
    throw new BailiwickError('usage', `--repo ${JSON.stringify(text)} is not URL[#REF]=DIR`)
  }
  return { url: normaliseUrl(url), ...(ref === '' ? {} : { ref }), dir: resolve(cwd, dir) }
}
