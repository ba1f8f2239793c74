import { message } from '../../message/message.ts'
import { github } from '../client/github-error.ts'
import type { Octokit } from '../client/octokit.ts'

const KEY = /^(?:ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(?:256|384|521)) [A-Za-z0-9+/]{40,2000}={0,2}$/

/** The keys by which GitHub's own SSH server is known, as its API publishes them; empty where a server publishes none. */
export async function readHostKeys(octokit: Octokit): Promise<string[]> {
  const { data } = await github(message`read the SSH keys of GitHub`, () => octokit.rest.meta.get())
  return (data.ssh_keys ?? []).filter(key => KEY.test(key))
}
