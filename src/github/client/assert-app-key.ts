import { BailiwickError } from '../../errors.ts'
import type { Log } from '../../process/log.ts'
import { openApp } from './app.ts'

/** What a process knows of the App when it starts. */
interface AppSettings {
  readonly appId: number
  readonly privateKey: string
  readonly githubApiUrl: string
}

/** A start waits for GitHub no longer than this. */
const ANSWER_WITHIN_MS = 5_000

/**
 * Asks GitHub once whether APP_ID and PRIVATE_KEY belong together. Throws `config` where GitHub refuses them. Where GitHub
 * cannot be asked the process starts all the same, with a warning: an outage must not keep it from starting again.
 */
export async function assertAppKey(settings: AppSettings, log: Pick<Log, 'info' | 'warn'>): Promise<void> {
  const { appId, privateKey, githubApiUrl: baseUrl } = settings
  const app = openApp({ appId, privateKey, baseUrl, readRetries: 0, timeoutMs: ANSWER_WITHIN_MS })
  try {
    const { slug } = await app.identity()
    log.info({ app: slug }, 'GitHub accepts the key of the App')
  } catch (error) {
    const code = error instanceof BailiwickError ? error.code : undefined
    if (code === 'not-permitted' || code === 'git-missing') throw refused(appId)
    log.warn({ err: error }, 'GitHub could not be asked whether the key belongs to the App; starting all the same')
  }
}

const refused = (appId: number) =>
  new BailiwickError('config', `APP_ID and PRIVATE_KEY: GitHub does not accept this key for the App ${appId}`, {
    fix:
      'Open the App\'s settings on GitHub, copy its "App ID" into APP_ID, and generate a private key there for ' +
      'PRIVATE_KEY. If both are right, check the clock of this machine.',
  })
