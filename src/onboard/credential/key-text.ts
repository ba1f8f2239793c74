import { codeSpan as code } from '../code-span.ts'
import { keySecretOf, type OnboardRequest } from '../request.ts'

/** What became of the key with which the cluster decrypts the files of a tenant. */
type KeyOutcome =
  | {
      readonly state: 'sealed'
      readonly file: string
      /** `age1...` */
      readonly recipient: string
      /** Who can open the file. */
      readonly recipients: readonly string[]
    }
  /** `why`: Markdown. */
  | { readonly state: 'by-hand'; readonly file: string; readonly why: string }

/** The part of a pull request about decryption. */
export function keyText(request: OnboardRequest, outcome: KeyOutcome): string {
  return [
    '### Decryption',
    ...(outcome.state === 'sealed' ? sealedText(request, outcome) : byHand(request, outcome)),
  ].join('\n\n')
}

/** The file `.sops.yaml` of a tenant's repository. */
export const tenantSopsConfig = (recipient: string): string =>
  `creation_rules:\n  - path_regex: \\.yaml$\n    encrypted_regex: ^(data|stringData)$\n    age: ${recipient}\n`

function sealedText(
  request: OnboardRequest,
  { file, recipient, recipients }: Extract<KeyOutcome, { state: 'sealed' }>,
) {
  return [
    [
      `- The cluster decrypts what this tenant encrypts, with the Secret ${code(keySecretOf(request)!)}. No other tenant can use this key.`,
      `- Its private half exists only in ${code(file)}, encrypted for ${recipients.map(code).join(', ')}.`,
      `- Add this \`.sops.yaml\` to ${code(request.url)}:`,
    ].join('\n'),
    `\`\`\`yaml\n${tenantSopsConfig(recipient)}\`\`\``,
  ]
}

function byHand(request: OnboardRequest, { file, why }: Extract<KeyOutcome, { state: 'by-hand' }>): string[] {
  const secret = keySecretOf(request)!
  const commands = [
    'age-keygen -o age.agekey',
    `kubectl create secret generic ${secret} --namespace=${request.namespaces[0]} --from-file=age.agekey --dry-run=client -o yaml > ${file}`,
    `sops encrypt --in-place ${file}`,
    'rm age.agekey',
  ]
  return [
    `⚠️ Bailiwick did not make a key: ${why}`,
    `The cluster decrypts with the Secret ${code(secret)}. Add it to this branch:`,
    `\`\`\`\n${commands.join('\n')}\n\`\`\``,
    `- Add ${code(file.slice(file.lastIndexOf('/') + 1))} to ${code('resources')} of the ${code('kustomization.yaml')} beside it.`,
  ]
}
