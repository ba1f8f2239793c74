import { code } from '../markdown.ts'
import type { Right, RightChange } from './changes.ts'

/** Groups of Kubernetes itself: what their resources are called says enough. */
const OWN_GROUP = /\.(?:[a-z0-9.-]+\.k8s\.io|apps|batch|autoscaling|policy|extensions)$/
const MAX_SHOWN = 12

/** Who gains or loses what, as lines of Markdown: `dev-team` gains: create `rolebindings` in `apps`. */
export function rightLines({ tenant, subject, namespace, gains, loses, unknown }: RightChange): string[] {
  const where = namespace === '' ? 'in the whole cluster' : `in ${code(namespace, 80)}`
  const who = tenant === '' ? code(subject) : `${code(tenant, 80)} (${code(subject)})`
  const line = (verb: string, rights: readonly Right[]) => {
    const shown = rights.slice(0, MAX_SHOWN).map(rightText)
    const left = rights.length - shown.length
    return `${who} ${verb}: ${shown.join('; ')}${left > 0 ? ` and ${left} more` : ''} ${where}`
  }
  const roles = unknown.map(role => code(role)).join(', ')
  return [
    ...(gains.length > 0 ? [line('gains', gains)] : []),
    ...(loses.length > 0 ? [line('loses', loses)] : []),
    ...(unknown.length > 0
      ? [`${who} is bound ${where} to ${roles}, which nobody renders: what it gains is not known`]
      : []),
  ]
}

function rightText({ verbs, resource, names }: Right): string {
  const anything = resource === '*' || resource === '*.*'
  const what = anything ? 'everything' : code(resource.replace(OWN_GROUP, ''))
  const only = names.length > 0 ? ` named ${names.map(name => code(name, 80)).join(', ')}` : ''
  return `${verbs.includes('*') ? 'do anything with' : verbs.map(verb => verbText(verb)).join(', ')} ${what}${only}`
}

const verbText = (verb: string): string => (/^[a-z]+$/.test(verb) ? verb : code(verb, 40))
