import { ProbotOctokit } from 'probot'
import { BailiwickError } from '../../errors.ts'
import { message } from '../../message/message.ts'
import { github } from './github-error.ts'

/** What GitHub says once, when an App was registered by its manifest. All but the first three are secrets. */
interface RegisteredApp {
  readonly id: number
  readonly clientId: string
  /** The page of the App, below which it is installed. */
  readonly url: string
  readonly clientSecret: string
  readonly webhookSecret: string
  /** PEM. */
  readonly privateKey: string
}

/**
 * Takes the App that a code of GitHub's manifest flow stands for; a code works once, within an hour, without credentials.
 * Throws `git-missing` for a code that GitHub does not know (any more), else as `github` does.
 */
export async function convertManifest(apiUrl: string, code: string): Promise<RegisteredApp> {
  const quiet = () => {}
  const log = { debug: quiet, info: quiet, warn: quiet, error: quiet }
  // asked once: a second request would find the code used up, and the secrets lost
  const options = { baseUrl: apiUrl, log, throttle: { enabled: false }, retry: { enabled: false } }
  const octokit = new ProbotOctokit(options)
  const { data } = await github(message`read the registered App`, () => octokit.rest.apps.createFromManifest({ code }))
  const { id, client_id: clientId, html_url: url, client_secret, webhook_secret, pem } = data
  if (!Number.isSafeInteger(id) || !client_secret || !webhook_secret || !pem) {
    throw new BailiwickError('github-unavailable', 'GitHub did not return all settings of the App', {
      fix: "Delete the App on GitHub's page, and register it again.",
    })
  }
  return { id, clientId, url, clientSecret: client_secret, webhookSecret: webhook_secret, privateKey: pem }
}
