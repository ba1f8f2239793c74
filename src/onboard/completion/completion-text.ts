import { codeSpan as code } from '../code-span.ts'
import type { CompletionFile } from './completion-file.ts'
import type { Completion } from './plan-completion.ts'

/**
 * What a tenant lacks, with the text of each file; Markdown. Everything in it was written by Bailiwick, or is a name that was
 * checked. `isFork`: the App never writes to that branch.
 */
export function completionText(completion: Completion, isFork: boolean): string {
  const { tenant, files, choices, secret, notCopied } = completion
  return [
    `### Tenant ${code(tenant)} is not complete`,
    ...files.map(fileText),
    ...(notCopied === undefined ? [] : [notCopiedText(notCopied)]),
    ...(choices.length === 0 ? [] : [choicesText(completion)]),
    ...(secret === undefined ? [] : [secretText(secret)]),
    ...(isFork ? [] : commandText(completion)),
  ].join('\n\n')
}

function fileText({ path, added, after }: CompletionFile): string {
  const where = after === 0 ? `Add ${code(path)}:` : `Add to ${code(path)}, after line ${after}:`
  return `${where}\n\n\`\`\`yaml\n${added.join('\n')}\n\`\`\``
}

const MOST_NAMED = 5

/** Rights of others are never a pattern: a tenant gets what workloads need. */
function notCopiedText({ grants, role }: NonNullable<Completion['notCopied']>): string {
  const named = grants.slice(0, MOST_NAMED).map(({ kind, role: other }) => `${kind} to ${code(other)}`)
  const more = grants.length > MOST_NAMED ? ` and ${grants.length - MOST_NAMED} more` : ''
  return `Not copied from other tenants: ${named.join(', ')}${more}. This account gets ${code(role)} in its namespace. If it needs more, write the binding by hand.`
}

function choicesText({ choices }: Completion): string {
  const rows = choices.map(({ cluster, entry, edit }) => `- ${code(cluster)}: ${code(entry)} in ${code(edit.path)}`)
  return ['No cluster lists this tenant. Add it to `resources` of one or more:', rows.join('\n')].join('\n\n')
}

/** The private half of a key is made on the machine of a person here, and never in clear in git. */
function secretText({ name, namespace, url, file }: NonNullable<Completion['secret']>): string {
  const create = `flux create secret git ${name} --namespace=${namespace} --url=${url}`
  const key = url.startsWith('ssh://') ? '--ssh-key-algorithm=ed25519' : '--username=git --password="$TOKEN"'
  return [
    `The source reads the Secret ${code(name)}, and no file has it. Other tenants keep it in git. Add it, and list it in the \`kustomization.yaml\` beside it:`,
    `\`\`\`\n${create} ${key} --export > ${file}\nsops encrypt --in-place ${file}\n\`\`\``,
  ].join('\n\n')
}

function commandText({ tenant, files, choices }: Completion): string[] {
  if (files.length === 0 && choices.length === 0) return []
  const [first] = choices
  const option = first === undefined ? '' : ` --cluster ${first.cluster}`
  return [`To commit this to the branch, comment \`/bailiwick complete ${tenant}${option}\`.`]
}
