/** A variable of Flux (`${X}`), of another program (`${db-password}`), of Kubernetes (`$(X)`) or of a template (`{{ .x }}`); the default of one is in the first group. */
const VARIABLE =
  /\$\{[a-z][a-z0-9]{0,60}(?:[-./][a-z0-9]{1,60}){1,10}\}|\$?\$\{\w{1,200}(?::?[=-]([^}]{0,2000}))?\}|\$\([\w.-]{1,200}\)|\{\{[^{}]{1,500}\}\}/g

/** Texts that stand for a value that is filled in later. A weak password, as `changeme`, is none of them. */
const PLACEHOLDER =
  /^(?:<[^<>]{1,200}>|\[(?:your|insert|replace|redacted)[^[\]]{0,100}\]|x{3,}|\*{3,}|\.{3,}|_{3,}|-{3,}|todo|tbd|fixme|n\/?a|null|none|nil|redacted|placeholder|replace[-_ ]?(?:me|this|with[-_ ].{1,100})|(?:to[-_ ]be|will[-_ ]be)[-_ ](?:replaced|filled|set)[\w -]{0,60}|(?:your|insert|put)[-_ ][\w -]{0,80}(?:here|goes[-_ ]here)|your[-_](?:[\w-]{0,60}[-_])?(?:password|passwd|token|key|secret))$/i

/** References that another program resolves before anybody uses the value. */
const REFERENCE = /^(?:vault|ref\+\w{1,20}|op|awssm|gcpsm|azurekv|secretref):[^\s]{1,500}$/i

/** Whether nothing stands there yet, or a name of where the value is. */
export const isPlaceholder = (text: string): boolean => PLACEHOLDER.test(text) || REFERENCE.test(text)

/** The literal part of a text: without its variables, but with what stands in git as the default of one. */
export function literalPart(text: string): string {
  if (!/[${]/.test(text)) return text
  return text.replace(VARIABLE, (_variable, fallback: string | undefined) => fallback ?? '')
}
