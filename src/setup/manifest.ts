import { parse } from 'yaml'
import { BailiwickError } from '../errors.ts'

/** What the person who registers the App decides. */
interface ManifestChoice {
  /** Where the web process will be reached, without a slash at the end; undefined: as app.yml says. */
  readonly publicUrl: string | undefined
  readonly name: string | undefined
  /** Where GitHub leads back to with the code. */
  readonly redirectUrl: string
}

/** The manifest in GitHub's words, and the address of the web process that it is for. */
interface Manifest {
  readonly publicUrl: string
  readonly manifest: Readonly<Record<string, unknown>>
}

const WEBHOOKS = '/api/github/webhooks'
const SIGN_IN = '/login/callback'

/** Makes the manifest out of app.yml, whose permissions and events go in as they are. Throws `config`. */
export function readManifest(appYml: string, { publicUrl, name, redirectUrl }: ManifestChoice): Manifest {
  const found: unknown = parse(appYml)
  if (!isRecord(found) || typeof found.url !== 'string') throw new BailiwickError('config', 'app.yml has no url')
  const root = (publicUrl ?? found.url).replace(/\/+$/, '')
  const host = new URL(root).hostname
  if (host === 'example.com' || host.endsWith('.example.com')) {
    throw new BailiwickError('config', '--url is missing: the address at which GitHub reaches the web process', {
      fix: 'Add it: npm run setup -- --url https://bailiwick.your.domain',
    })
  }
  return {
    publicUrl: root,
    manifest: {
      ...found,
      ...(name === undefined ? {} : { name }),
      url: root,
      hook_attributes: { url: `${root}${WEBHOOKS}`, active: true },
      redirect_url: redirectUrl,
      callback_urls: [`${root}${SIGN_IN}`],
      // whoever knows the address could install an App that is public
      public: false,
    },
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
