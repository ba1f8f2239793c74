import { BailiwickError } from '../../errors.ts'
import { askUntilAnswered } from '../../process/ask-until-answered.ts'
import type { Log } from '../../process/log.ts'
import { type App, openApp } from './app.ts'

interface Settings {
  readonly appId: number
  readonly privateKey: string
  readonly githubApiUrl: string
}

interface Asking {
  readonly log: Pick<Log, 'info' | 'warn'>
  /** GitHub answered after the start, and refuses the key. */
  readonly onRefused: (error: BailiwickError) => void
  /** First pause between two questions. */
  readonly retryMs?: number
}

/** Whether APP_ID and PRIVATE_KEY belong together, by GitHub's answer. */
interface AppKey {
  /** Rejects with `github-unavailable` until GitHub has accepted the key once. */
  accepted(): Promise<void>
}

/** A start waits for GitHub no longer than this. */
const ANSWER_WITHIN_MS = 5_000

/** Asks GitHub whether the key belongs to the App, until it answers. Throws `config` if GitHub refuses it. */
export async function openAppKey(
  { appId, privateKey, githubApiUrl: baseUrl }: Settings,
  { log, onRefused, retryMs }: Asking,
): Promise<AppKey> {
  const app = openApp({ appId, privateKey, baseUrl, readRetries: 0, timeoutMs: ANSWER_WITHIN_MS })
  const { problem } = await askUntilAnswered({ ask: () => ask(app, appId, log), onRefused, retryMs })
  return {
    accepted: async () => {
      if (problem() === undefined) return
      throw new BailiwickError('github-unavailable', `GitHub has not accepted the key of the App yet: ${problem()}`, {
        fix: 'Check that this machine reaches GITHUB_API_URL.',
      })
    },
  }
}

/** Undefined if GitHub accepts the key, else why it did not answer. Throws `config` if it refuses the key. */
async function ask(app: App, appId: number, log: Asking['log']): Promise<string | undefined> {
  try {
    const { slug } = await app.identity()
    log.info({ app: slug }, 'GitHub accepts the key of the App')
    return undefined
  } catch (error) {
    const code = error instanceof BailiwickError ? error.code : undefined
    if (code === 'not-permitted' || code === 'git-missing') throw refused(appId)
    log.warn({ err: error }, 'GitHub did not answer whether the key belongs to the App; not ready until it does')
    return error instanceof Error ? error.message : String(error)
  }
}

const refused = (appId: number) =>
  new BailiwickError('config', `APP_ID and PRIVATE_KEY: GitHub does not accept this key for the App ${appId}`, {
    fix:
      'Open the App\'s settings on GitHub, copy its "App ID" into APP_ID, and generate a private key there for ' +
      'PRIVATE_KEY. If both are right, check the clock of this machine.',
  })
