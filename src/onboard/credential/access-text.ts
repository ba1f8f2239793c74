import { createHash } from 'node:crypto'
import { codeSpan as code } from '../code-span.ts'
import { isArtifact, type OnboardRequest, secretOf, sourceAddress } from '../request.ts'

/** What became of the credentials of a source. */
type AccessOutcome =
  /** `file`: where the sealed Secret is. `recipients`: who can open it. */
  | {
      readonly state: 'sealed'
      readonly file: string
      readonly repository: string
      readonly key: string
      readonly recipients: readonly string[]
    }
  /** `why`: Markdown; undefined where nobody asked Bailiwick to make them. */
  | { readonly state: 'by-hand'; readonly file: string; readonly why: string | undefined }

/** The part of a pull request about how the cluster reads the repository; undefined where nobody asked for credentials. */
export function accessText(request: OnboardRequest, outcome: AccessOutcome): string {
  return ['### Read access', ...(outcome.state === 'sealed' ? sealedText(outcome) : byHand(request, outcome))].join(
    '\n\n',
  )
}

function sealedText({ file, repository, key, recipients }: Extract<AccessOutcome, { state: 'sealed' }>): string[] {
  return [
    [
      `- The deploy key ${code(fingerprintOf(key))} can read ${code(repository)}, and nothing else.`,
      `- Its private half exists only in ${code(file)}, encrypted for ${recipients.map(code).join(', ')}.`,
      '- If this pull request is closed without a merge, the deploy key is deleted.',
    ].join('\n'),
  ]
}

/** As GitHub and `ssh-keygen -l` show it. */
function fingerprintOf(key: string): string {
  const bytes = Buffer.from(key.split(' ')[1] ?? '', 'base64')
  return `SHA256:${createHash('sha256').update(bytes).digest('base64').replace(/=+$/, '')}`
}

function byHand(request: OnboardRequest, { file, why }: Extract<AccessOutcome, { state: 'by-hand' }>): string[] {
  return [
    ...(why === undefined ? [] : [`⚠️ Bailiwick did not make a deploy key: ${why}`]),
    `The cluster reads ${code(sourceAddress(request))} with the Secret ${code(secretOf(request)!)}. Add it to this branch:`,
    `\`\`\`\n${accessCommands(request, file).join('\n')}\n\`\`\``,
    [
      `- ${code('kustomization.yaml')} beside it lists the file: the check fails until it is there.`,
      NOTES[request.access!],
    ].join('\n'),
  ]
}

const NOTES: Readonly<Record<NonNullable<OnboardRequest['access']>, string>> = {
  'deploy-key': '- Add the public key that `yq` prints as a deploy key of the repository, without write access.',
  token: '- Use a fine-grained token of this repository alone, with `Contents: read`.',
  'github-app':
    '- Use a GitHub App of your own with `Contents: read`, installed on this repository alone. Never put the private key of Bailiwick into a cluster.',
}

/** The commands by which people make the sealed Secret of a source themselves. */
export function accessCommands(request: OnboardRequest, file: string): string[] {
  const name = `--namespace=${request.namespaces[0]} ${secretOf(request)}`
  const seal = `sops encrypt --in-place ${file}`
  switch (request.access!) {
    case 'deploy-key':
      return [
        `flux create secret git ${name} --url=${sourceAddress(request)} --ssh-key-algorithm=ed25519 --export > ${file}`,
        `yq '.stringData."identity.pub"' ${file}`,
        seal,
      ]
    case 'token':
      if (isArtifact(request)) {
        const host = new URL(request.url).host
        const registry = `--url=${host} --username="$USERNAME" --password="$TOKEN"`
        return [`flux create secret oci ${name} ${registry} --export > ${file}`, seal]
      }
      return [
        `flux create secret git ${name} --url=${request.url} --username=git --password="$TOKEN" --export > ${file}`,
        seal,
      ]
    case 'github-app':
      return [
        `flux create secret githubapp ${name} --app-id=${request.appId ?? '"$APP_ID"'} --app-installation-id=${request.installationId ?? '"$INSTALLATION_ID"'} --app-private-key=app.pem --export > ${file}`,
        seal,
      ]
  }
}
