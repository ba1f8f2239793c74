import { currentBranch, remoteUrl } from '../git/working-copy.ts'
import { normaliseUrl } from '../kube/url.ts'

/** How Flux sources name the repository in a folder, and the branch that the folder stands for. */
export interface RepositoryAddress {
  readonly url: string
  readonly branch: string
}

/** What was said on the command line, else the remote `origin` ('' without one) and the checked-out branch (else `main`). */
export async function repositoryAddress(
  dir: string,
  { url, branch }: { readonly url?: string; readonly branch?: string },
): Promise<RepositoryAddress> {
  const address = url ?? (await remoteUrl(dir))
  return {
    url: address === undefined ? '' : normaliseUrl(address),
    branch: branch ?? (await currentBranch(dir)) ?? 'main',
  }
}
