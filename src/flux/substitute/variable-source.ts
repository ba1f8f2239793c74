import { BailiwickError } from '../../errors.ts'
import { at, type MapNode, stringAt, type ValueHolder } from '../../kube/node.ts'
import { isSopsEncrypted } from '../../kube/sops-marks.ts'
import type { Origin } from '../../origin.ts'
import { textOf } from './text-of.ts'
import type { Variable, VariableSource, Variables } from './variable.ts'

/** Finds what `substituteFrom` names in the namespace of the Kustomization; undefined where there is none. */
export type FindVariableSource = (kind: SourceKind, name: string) => VariableSource | undefined

export type SourceKind = 'ConfigMap' | 'Secret'

/**
 * The variables that a ConfigMap or Secret gives: `data`, that of a Secret decoded, line breaks removed. What is
 * encrypted in git is unknown and lies in this object; what substitution put there lies where it came from. Throws `flux-invalid` for data that the API server refuses.
 */
export function variablesOf(root: MapNode): Variables {
  const secret = stringAt(root, ['kind']) === 'Secret'
  const data = at(root, ['data'])
  const variables = new Map<string, Variable>()
  if (data?.type !== 'map') {
    if (data && !(data.type === 'scalar' && data.value === null)) throw noText('data: not a map', data.origin)
    return variables
  }
  for (const [name, { value: node }] of data.fields) {
    if (node.type !== 'scalar' || typeof node.value !== 'string')
      throw noText('data: a value is not a string', node.origin)
    const { value, origin } = node
    const own: Variable = {
      value: '',
      origin,
      hidden: 'opaque',
      holders: node.opaque?.length ? node.opaque : [holderOf(root, name)],
    }
    if (node.opaque || isEncrypted(value)) variables.set(name, own)
    else variables.set(name, secret ? (decoded(value, origin) ?? own) : plainVariable(value, origin))
  }
  return variables
}

/** A variable of a value as it is written. */
export function plainVariable(value: string, origin: Origin): Variable {
  return { value: value.replaceAll('\n', ''), origin }
}

/** An object as the holder of one of its values. */
export function holderOf(root: MapNode, key: string): ValueHolder {
  const written = stringAt(root, ['kind'])
  const kind = written === 'Secret' || written === 'Kustomization' ? written : 'ConfigMap'
  const text = (field: string) => stringAt(root, ['metadata', field]) ?? ''
  return { kind, namespace: text('namespace'), name: text('name'), key }
}

/** Undefined for what is encrypted. */
function decoded(value: string, origin: Origin): Variable | undefined {
  const base64 = value.replace(/[\r\n]/g, '')
  if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) {
    throw noText('data: a value is not valid base64', origin)
  }
  const text = textOf(Buffer.from(base64, 'base64'))
  if (text === undefined) return { value: '', origin, hidden: 'not-text' }
  return isEncrypted(text) ? undefined : plainVariable(text, origin)
}

/** The mark of SOPS: on a value by itself, or in a file that is one value. */
const isEncrypted = (text: string): boolean =>
  text.startsWith('ENC[') || isSopsEncrypted(text) || /(?:^|["' ])mac["']? *[:=] *["']?ENC\[/m.test(text)

function noText(message: string, origin: Origin): BailiwickError {
  return new BailiwickError('flux-invalid', message, { origin, fix: 'Correct the value as the API server requires.' })
}
