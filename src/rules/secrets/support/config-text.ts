import { credentialIn } from './credential-forms.ts'
import { isCredentialName, isLiteral } from './credential-keys.ts'
import { looksRandom } from './looks-random.ts'
import { literalPart } from './placeholder.ts'
import { urlSecret } from './url-secret.ts'

const EXTENSION =
  /\.(?:ya?ml|json|json5|toml|ini|conf|cfg|config|cnf|properties|xml|tpl|tmpl|hcl|tf|rules|sql|sh|lua|js|ts|py|html?|css|md)$/i
const LINE = /^\s*(?:[#;]|\/\/|\[|[{}]|-\s|-$|"?[\w./-]{1,200}"?\s*[:=])/
/** Names that end so besides those of isCredentialName. */
const ALSO = /(?:pass|pwd|secret|token|auth|encryptionkey|signingkey|masterkey|accountkey|secretkey)$/
const NO_VALUE = /(?:existing|pull|image|use|has|enable|create|rotate).{0,40}secret$|^(?:secret|auth)$/
const PAIR =
  /(?<![\w.-])([\w.-]{1,100})["']?[ \t]{0,10}[:=][ \t]{0,10}(?:"([^"\n]{1,4096})"|'([^'\n]{1,4096})'|([^\s,;{}[\]"'#&][^\s,;}\]"'#&]{0,4095}))/g
const DIRECTIVE = /^[ \t]{0,40}(?:--?)?([\w.-]{1,100})[ \t]{1,10}["']?([^\s"']{1,4096})/
/** What client-go reads, which asks for no kind. */
const KUBECONFIG = [/["']?clusters["']?\s{0,10}:/, /["']?users["']?\s{0,10}:/]
const CERTIFICATE =
  /-----BEGIN (?:CERTIFICATE|PUBLIC KEY)-----[A-Za-z0-9+/=\s]{0,20000}-----END (?:CERTIFICATE|PUBLIC KEY)-----/g
const ENCODED_CERTIFICATE = /LS0tLS1CRUdJTiB(?:DRVJUSUZJQ0FURS|QVUJMSUMgS0VZ)[A-Za-z0-9+/=]{0,40000}/g

/** Whether a value is a file of settings, by the name that it has or by every line of it. */
export function isConfigText(key: string, text: string): boolean {
  if (!text.trim().includes('\n')) return EXTENSION.test(key)
  return EXTENSION.test(key) || text.split('\n').every(line => line.trim() === '' || LINE.test(line))
}

/** Whether a file of settings holds a secret in the open: by its form, by a name, in an address, or by its randomness. */
export function holdsSecret(file: string): boolean {
  // whoever has a kubeconfig is whom it names
  if (KUBECONFIG.every(part => part.test(file))) return true
  // a file that SOPS wrote only a part of is not a file of settings
  if (/ENC\[AES256_GCM|\bsops_(?:mac|version)\b|^sops:/m.test(file) || credentialIn(file)) return true
  const text = literalPart(file.replace(CERTIFICATE, '').replace(ENCODED_CERTIFICATE, ''))
  return text.split('\n').some(line => !/^\s*(?:#|\/\/)/.test(line) && isSecretLine(line))
}

function isSecretLine(line: string): boolean {
  if (line.length > 20_000) return true
  if (urlSecret(line) || looksRandom(line)) return true
  for (const [, name = '', double, single, bare] of line.matchAll(PAIR)) {
    if (isSecretName(name) && isLiteral((double ?? single ?? bare ?? '').replace(/\s/g, '_'))) return true
  }
  const [, word = '', value = ''] = DIRECTIVE.exec(line) ?? []
  return isSecretName(word) && !/^[:=]/.test(value) && isLiteral(value)
}

function isSecretName(name: string): boolean {
  const plain = name.toLowerCase().replace(/[^a-z0-9]/g, '')
  return isCredentialName(name) || (ALSO.test(plain) && !NO_VALUE.test(plain))
}
