import type { BailiwickError, ErrorCode } from '../errors.ts'

/**
 * What an error of a part means for the whole: `refused` where kustomize or Flux refuses the build for it, `built` where
 * only this engine cannot do it. An error that is not here is one of the build as a whole.
 */
const OF_PARTS: { readonly [code in ErrorCode]?: 'refused' | 'built' } = {
  'yaml-syntax': 'refused',
  'yaml-ambiguous': 'built',
  'yaml-encoding': 'built',
  'invalid-object': 'refused',
  'kustomize-missing': 'refused',
  'kustomize-invalid': 'refused',
  'kustomize-multiple-files': 'refused',
  'kustomize-unsupported': 'built',
  'flux-invalid': 'refused',
  'flux-unsupported': 'built',
  'flux-missing-variable': 'refused',
  'unrendered-variable': 'built',
}

/** Rules whose errors mean something else than their code does. */
const OF_RULES = new Map<string, 'refused' | 'built'>([
  ['kustomize-helm-inflate', 'refused'],
  ['kustomize-plugin', 'refused'],
  ['kustomize-symlink', 'refused'],
  ['source-submodules', 'refused'],
])

/** Errors of the build as a whole for which Flux refuses it, too. */
const REFUSED_AS_WHOLE: ReadonlySet<ErrorCode> = new Set(['path-not-found'])

/** Whether an error is one of a part, which a build may do without. */
export function isOfPart({ code, refused }: BailiwickError): boolean {
  return refused !== undefined || Object.hasOwn(OF_PARTS, code)
}

/** Whether kustomize or Flux refuses the whole build for it. */
export function isFatal({ code, rule, refused }: BailiwickError): boolean {
  if (refused !== undefined) return refused
  if (REFUSED_AS_WHOLE.has(code)) return true
  return ((rule === undefined ? undefined : OF_RULES.get(rule)) ?? OF_PARTS[code]) === 'refused'
}
