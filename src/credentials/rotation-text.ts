import { codeSpan as code } from '../onboard/code-span.ts'

/** A rotation, for people. */
interface RotatedKey {
  readonly tenant: string
  readonly file: string
  /** Address of the repository that the keys can read. */
  readonly repository: string
  readonly clusters: readonly string[]
  readonly recipients: readonly string[]
  readonly by: string
  /** How many keys are replaced. */
  readonly replaced: number
}

/** Title and body of the pull request that replaces a sealed key. */
export function rotationText(rotated: RotatedKey): { readonly title: string; readonly body: string } {
  const { tenant, file, repository, clusters, recipients, by, replaced } = rotated
  const body = [
    `Replaces the deploy key of tenant ${code(tenant)}, as ${code(by)} asked.`,
    [
      `- The new key can read ${code(repository)}, and nothing else. It is active now; the old one too.`,
      `- Its private half exists only in ${code(file)}, encrypted for ${recipients.map(code).join(', ')}.`,
      '- If this pull request is closed without a merge, the new key is deleted, and the old one stays.',
      `- After the merge, ${oldKeys(replaced)} once ${clusters.map(code).join(', ')} can read with the new one.`,
    ].join('\n'),
  ]
  return { title: `Rotate the deploy key of tenant ${tenant}`.slice(0, 200), body: body.join('\n\n') }
}

const oldKeys = (count: number) =>
  count === 0
    ? 'delete the old key by hand: Bailiwick did not make it. Do so'
    : `the old key${count === 1 ? ' is' : 's are'} deleted`

/** How far a merged rotation is. */
export type RotationState =
  /** `removed`: how many old keys were deleted just now. */
  | { readonly state: 'finished'; readonly removed: number }
  /** There was nothing left to do. */
  | { readonly state: 'complete' }
  /** `waits`: for what, in plain words. */
  | { readonly state: 'waiting'; readonly waits: readonly string[] }
  /** Every key of this tenant is gone from the repository. */
  | { readonly state: 'revoked' }
  /** The file was changed after this pull request. */
  | { readonly state: 'overtaken' }

/** The comment on a merged rotation, and the reply to a command that asks for it. */
export function rotationStateText(tenant: string, state: RotationState): string {
  switch (state.state) {
    case 'finished':
      return `The rotation is complete: ${state.removed === 1 ? 'the old deploy key is' : `${state.removed} old deploy keys are`} deleted.`
    case 'complete':
      return 'The rotation is complete: no old deploy key is left.'
    case 'waiting':
      return [
        'The new deploy key is active. The old one is kept until:',
        state.waits.map(one => `- ${one}`).join('\n'),
        `If the clusters already read with the new key, a fleet admin can say so on an open issue: ${code(`/bailiwick rotate-key ${tenant} --ready`)}`,
      ].join('\n\n')
    case 'revoked':
      return `⚠️ The repository has no deploy key of tenant ${code(tenant)} any more: someone deleted it, and Bailiwick does not add it again. An admin of that repository who is also a fleet admin can run ${code(`/bailiwick rotate-key ${tenant}`)}.`
    case 'overtaken':
      return 'The sealed key was changed after this pull request, so nothing is done here.'
  }
}

/** What to do by hand where Bailiwick cannot rotate a key. */
export function rotateByHand(key: {
  readonly name: string
  readonly namespace: string
  readonly address: string
  readonly file: string
}): string {
  const { name, namespace, address, file } = key
  return [
    `1. Write a new key: \`flux create secret git ${name} --namespace=${namespace} --url=${address} --ssh-key-algorithm=ed25519 --export > ${file}\``,
    `2. Add the public key (\`yq '.stringData."identity.pub"' ${file}\`) as a read-only deploy key. Keep the old one.`,
    `3. Run \`sops encrypt --in-place ${file}\`, and merge it.`,
    '4. When `flux get sources git` shows the source as ready, delete the old key.',
  ].join(' ')
}
