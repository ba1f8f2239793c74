import { type FakeGitHub, startGitHub } from '../../../tools/github/start.ts'

/** A GitHub, and the settings of a process whose key it accepts: without it, a process starts and does not become ready. */
export async function githubOfStart(): Promise<{
  readonly github: FakeGitHub
  readonly settings: Readonly<Record<'APP_ID' | 'PRIVATE_KEY' | 'GITHUB_API_URL', string>>
}> {
  const github = await startGitHub()
  const { id, privateKey } = github.app
  return { github, settings: { APP_ID: String(id), PRIVATE_KEY: privateKey, GITHUB_API_URL: github.url } }
}
