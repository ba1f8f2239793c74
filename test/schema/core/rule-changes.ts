import type { Change } from './cases.ts'
import { rowsOfFields, rowsOfObjects } from './schema-rows.ts'

/** Schemas of a field with rules, and where the API server refuses them. */
const FIELDS = String.raw`
{type: integer, x-kubernetes-validations: [{rule: "self > 1"}]} => accepted
{type: integer, x-kubernetes-validations: [{rule: "self >"}]} => bad-format x-kubernetes-validations.0.rule
{type: integer, x-kubernetes-validations: [{rule: ""}]} => missing-field x-kubernetes-validations.0.rule
{type: integer, x-kubernetes-validations: [{rule: " "}]} => missing-field x-kubernetes-validations.0.rule
{type: integer, x-kubernetes-validations: [{message: x}]} => missing-field x-kubernetes-validations.0.rule
{type: integer, x-kubernetes-validations: [{rule: "self"}]} => bad-format x-kubernetes-validations.0.rule
{type: integer, x-kubernetes-validations: [{rule: "1 + 1"}]} => bad-format x-kubernetes-validations.0.rule
{type: integer, x-kubernetes-validations: [{rule: "self == 'a'"}]} => bad-format x-kubernetes-validations.0.rule
{type: integer, x-kubernetes-validations: [{rule: "self.a == 1"}]} => bad-format x-kubernetes-validations.0.rule
{type: integer, x-kubernetes-validations: [{rule: "nothing(self)"}]} => bad-format x-kubernetes-validations.0.rule
{type: integer, x-kubernetes-validations: [{rule: "self.nothing()"}]} => bad-format x-kubernetes-validations.0.rule
{type: integer, x-kubernetes-validations: [{rule: "other == 1"}]} => bad-format x-kubernetes-validations.0.rule
{type: integer, x-kubernetes-validations: [{rule: "self > 1.0"}]} => accepted
{type: integer, x-kubernetes-validations: [{rule: "self + 'a' == 'b'"}]} => bad-format x-kubernetes-validations.0.rule
{type: integer, x-kubernetes-validations: [{rule: "size(self) > 1"}]} => bad-format x-kubernetes-validations.0.rule
{type: integer, x-kubernetes-validations: [{rule: "self.startsWith('a')"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, x-kubernetes-validations: [{rule: "self.startsWith(1)"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, x-kubernetes-validations: [{rule: "self.matches('(')"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, x-kubernetes-validations: [{rule: "self.matches('a')"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "self.matches('(')"}]} => bad-format x-kubernetes-validations.0.rule
{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: "self.a == 'x'"}]} => accepted
{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: "self.b == 'x'"}]} => bad-format x-kubernetes-validations.0.rule
{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: "has(self.b)"}]} => bad-format x-kubernetes-validations.0.rule
{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: "has(self.a)"}]} => accepted
{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: "self.a"}]} => bad-format x-kubernetes-validations.0.rule
{type: object, properties: {a: {type: boolean}}, x-kubernetes-validations: [{rule: "self.a"}]} => accepted
{type: object, properties: {a: {type: boolean}}, x-kubernetes-validations: [{rule: "!self.a"}]} => accepted
{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: "!self.a"}]} => bad-format x-kubernetes-validations.0.rule
{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: "self.a && true"}]} => bad-format x-kubernetes-validations.0.rule
{type: object, properties: {a: {type: integer}, b: {type: string}}, x-kubernetes-validations: [{rule: "self.a == self.b"}]} => bad-format x-kubernetes-validations.0.rule
{type: object, properties: {a: {type: integer}, b: {type: number}}, x-kubernetes-validations: [{rule: "self.a == self.b"}]} => bad-format x-kubernetes-validations.0.rule
{type: object, properties: {a: {type: integer}, b: {type: number}}, x-kubernetes-validations: [{rule: "self.a < self.b"}]} => accepted
{type: object, properties: {a: {type: integer}, b: {type: string}}, x-kubernetes-validations: [{rule: "self.a < self.b"}]} => bad-format x-kubernetes-validations.0.rule
{type: object, properties: {a: {x-kubernetes-int-or-string: true}}, x-kubernetes-validations: [{rule: "self.a == 1"}]} => accepted
{type: object, properties: {a: {x-kubernetes-int-or-string: true}}, x-kubernetes-validations: [{rule: "self.a"}]} => bad-format x-kubernetes-validations.0.rule
{type: object, properties: {a: {x-kubernetes-preserve-unknown-fields: true}}, x-kubernetes-validations: [{rule: "self.a == 1"}]} => bad-format x-kubernetes-validations.0.rule
{type: object, x-kubernetes-preserve-unknown-fields: true, x-kubernetes-validations: [{rule: "self.a == 1"}]} => bad-format x-kubernetes-validations.0.rule
{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: integer}}, x-kubernetes-validations: [{rule: "self.b == 1"}]} => bad-format x-kubernetes-validations.0.rule
{x-kubernetes-preserve-unknown-fields: true, x-kubernetes-validations: [{rule: "self == 1"}]} => forbidden-field x-kubernetes-validations
{type: object, additionalProperties: {type: integer}, x-kubernetes-validations: [{rule: "self.b == 1"}]} => accepted
{type: object, additionalProperties: {type: integer}, x-kubernetes-validations: [{rule: "self.b == 'a'"}]} => bad-format x-kubernetes-validations.0.rule
{type: object, additionalProperties: {type: integer}, x-kubernetes-validations: [{rule: "self['b'] == 1"}]} => accepted
{type: object, additionalProperties: {type: integer}, x-kubernetes-validations: [{rule: "self[1] == 1"}]} => bad-format x-kubernetes-validations.0.rule
{type: object, additionalProperties: {type: integer}, x-kubernetes-validations: [{rule: "self.all(k, self[k] > 0)"}]} => accepted
{type: object, maxProperties: 5, additionalProperties: {type: integer}, x-kubernetes-validations: [{rule: "self.all(k, self[k] > 0)"}]} => accepted
{type: object, maxProperties: 5, additionalProperties: {type: integer}, x-kubernetes-validations: [{rule: "self.all(k, k > 0)"}]} => bad-format x-kubernetes-validations.0.rule
{type: object, additionalProperties: true, x-kubernetes-validations: [{rule: "self.b == 1"}]} => bad-format x-kubernetes-validations.0.rule
{type: array, maxItems: 5, items: {type: string}, x-kubernetes-validations: [{rule: "self.all(x, x == 'a')"}]} => accepted
{type: array, maxItems: 5, items: {type: string}, x-kubernetes-validations: [{rule: "self.all(x, x == 1)"}]} => bad-format x-kubernetes-validations.0.rule
{type: array, maxItems: 5, items: {type: string}, x-kubernetes-validations: [{rule: "self.all(x, x)"}]} => bad-format x-kubernetes-validations.0.rule
{type: array, maxItems: 5, items: {type: string}, x-kubernetes-validations: [{rule: "self[0] == 'a'"}]} => accepted
{type: array, maxItems: 5, items: {type: string}, x-kubernetes-validations: [{rule: "self['a'] == 'a'"}]} => bad-format x-kubernetes-validations.0.rule
{type: array, maxItems: 5, items: {type: string}, x-kubernetes-validations: [{rule: "'a' in self"}]} => accepted
{type: array, maxItems: 5, items: {type: string}, x-kubernetes-validations: [{rule: "1 in self"}]} => bad-format x-kubernetes-validations.0.rule
{type: array, maxItems: 5, items: {type: string}, x-kubernetes-validations: [{rule: "self.map(x, x + 'a').exists(y, y == 1)"}]} => bad-format x-kubernetes-validations.0.rule
{type: array, maxItems: 5, items: {type: string}, x-kubernetes-validations: [{rule: "self.filter(x, x)"}]} => bad-format x-kubernetes-validations.0.rule
{type: array, maxItems: 5, items: {type: string}, x-kubernetes-validations: [{rule: "self.size() > 'a'"}]} => bad-format x-kubernetes-validations.0.rule
{type: array, maxItems: 5, items: {type: string}, x-kubernetes-validations: [{rule: "self.isSorted()"}]} => accepted
{type: array, maxItems: 5, items: {type: string}, x-kubernetes-validations: [{rule: "self == ['a', 1]"}]} => bad-format x-kubernetes-validations.0.rule
{type: array, maxItems: 5, items: {type: string}, x-kubernetes-validations: [{rule: "self.b == 1"}]} => bad-format x-kubernetes-validations.0.rule
{type: array, items: {type: object, properties: {a: {type: string}}}, x-kubernetes-validations: [{rule: "self.all(x, x.a == 'a')"}]} => accepted
{type: string, x-kubernetes-validations: [{rule: "self.contains('a')"}]} => accepted
{type: integer, x-kubernetes-validations: [{rule: "self > 1 ? true : 'a'"}]} => bad-format x-kubernetes-validations.0.rule
{type: integer, x-kubernetes-validations: [{rule: "self ? true : false"}]} => bad-format x-kubernetes-validations.0.rule
{type: integer, x-kubernetes-validations: [{rule: "self > 1", messageExpression: "self"}]} => bad-format x-kubernetes-validations.0.messageExpression
{type: integer, x-kubernetes-validations: [{rule: "self > 1", messageExpression: "'a' + self"}]} => bad-format x-kubernetes-validations.0.messageExpression
{type: integer, x-kubernetes-validations: [{rule: "self > 1", messageExpression: "'a'+"}]} => bad-format x-kubernetes-validations.0.messageExpression
{type: integer, x-kubernetes-validations: [{rule: "self > 1", messageExpression: " "}]} => missing-field x-kubernetes-validations.0.messageExpression
{type: integer, x-kubernetes-validations: [{rule: "self > 1", messageExpression: ""}]} => accepted
{type: integer, x-kubernetes-validations: [{rule: "self > 1", message: "a\nb"}]} => bad-format x-kubernetes-validations.0.message
{type: integer, x-kubernetes-validations: [{rule: "self > 1", message: " "}]} => missing-field x-kubernetes-validations.0.message
{type: integer, x-kubernetes-validations: [{rule: "self > 1", message: ""}]} => accepted
{type: integer, x-kubernetes-validations: [{rule: "self > 1\n && self < 3"}]} => missing-field x-kubernetes-validations.0.message
{type: integer, x-kubernetes-validations: [{rule: "self > 1\n && self < 3", message: x}]} => accepted
{type: integer, x-kubernetes-validations: [{rule: "self > 1", reason: FieldValueInvalid}]} => accepted
{type: integer, x-kubernetes-validations: [{rule: "self > 1", reason: Whatever}]} => not-allowed x-kubernetes-validations.0.reason
{type: integer, x-kubernetes-validations: [{rule: "self > 1", reason: ""}]} => not-allowed x-kubernetes-validations.0.reason
{type: integer, x-kubernetes-validations: [{rule: "self > 1", reason: FieldValueRequired}, {rule: "self > 2", reason: FieldValueForbidden}, {rule: "self > 2", reason: FieldValueDuplicate}]} => duplicate x-kubernetes-validations.2
{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: "self.a == 'x'", fieldPath: .a}]} => accepted
{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: "self.a == 'x'", fieldPath: a}]} => bad-format x-kubernetes-validations.0.fieldPath
{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: "self.a == 'x'", fieldPath: .b}]} => bad-format x-kubernetes-validations.0.fieldPath
{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: "self.a == 'x'", fieldPath: ""}]} => accepted
{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: "self.a == 'x'", fieldPath: " "}]} => missing-field x-kubernetes-validations.0.fieldPath
{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: "self.a == 'x'", fieldPath: "."}]} => bad-format x-kubernetes-validations.0.fieldPath
{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: "self.a == 'x'", fieldPath: ".a."}]} => bad-format x-kubernetes-validations.0.fieldPath
{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: "self.a == 'x'", fieldPath: ".a\n"}]} => bad-format x-kubernetes-validations.0.fieldPath
{type: object, properties: {a: {type: array, items: {type: string}}}, x-kubernetes-validations: [{rule: "true", fieldPath: ".a[0]"}]} => bad-format x-kubernetes-validations.0.fieldPath
{type: object, properties: {a: {type: array, items: {type: string}}}, x-kubernetes-validations: [{rule: "true", fieldPath: ".a"}]} => accepted
{type: object, properties: {a.b: {type: string}}, x-kubernetes-validations: [{rule: "true", fieldPath: "['a.b']"}]} => accepted
{type: object, properties: {a.b: {type: string}}, x-kubernetes-validations: [{rule: "true", fieldPath: ".a.b"}]} => bad-format x-kubernetes-validations.0.fieldPath
{type: object, properties: {a: {type: object, properties: {b: {type: string}}}}, x-kubernetes-validations: [{rule: "true", fieldPath: ".a.b"}]} => accepted
{type: object, properties: {a: {type: object, properties: {b: {type: string}}}}, x-kubernetes-validations: [{rule: "true", fieldPath: ".a['b']"}]} => accepted
{type: object, properties: {a: {type: object, properties: {b: {type: string}}}}, x-kubernetes-validations: [{rule: "true", fieldPath: ".a.c"}]} => bad-format x-kubernetes-validations.0.fieldPath
{type: object, properties: {a: {type: object, additionalProperties: {type: string}}}, x-kubernetes-validations: [{rule: "true", fieldPath: ".a.c"}]} => accepted
{type: object, properties: {a: {type: object, additionalProperties: {type: string}}}, x-kubernetes-validations: [{rule: "true", fieldPath: ".a['c']"}]} => accepted
{type: string, x-kubernetes-validations: [{rule: "true", fieldPath: ".a"}]} => bad-format x-kubernetes-validations.0.fieldPath
{type: integer, x-kubernetes-validations: [{rule: "self >= oldSelf"}]} => accepted
{type: integer, x-kubernetes-validations: [{rule: "self >= oldSelf", optionalOldSelf: true}]} => bad-format x-kubernetes-validations.0.rule
{type: integer, x-kubernetes-validations: [{rule: "oldSelf.hasValue()", optionalOldSelf: true}]} => accepted
{type: integer, x-kubernetes-validations: [{rule: "oldSelf.hasValue()"}]} => bad-format x-kubernetes-validations.0.rule
{type: integer, x-kubernetes-validations: [{rule: "oldSelf.orValue(1) == self", optionalOldSelf: true}]} => accepted
{type: integer, x-kubernetes-validations: [{rule: "oldSelf.orValue('a') == 'b'", optionalOldSelf: true}]} => bad-format x-kubernetes-validations.0.rule
{type: integer, x-kubernetes-validations: [{rule: "self > 1", optionalOldSelf: true}]} => forbidden-field x-kubernetes-validations.0.optionalOldSelf
{type: integer, x-kubernetes-validations: [{rule: "self > 1", optionalOldSelf: false}]} => forbidden-field x-kubernetes-validations.0.optionalOldSelf
{type: array, maxItems: 5, items: {type: string, x-kubernetes-validations: [{rule: "self == oldSelf"}]}} => bad-format items.x-kubernetes-validations.0.rule
{type: array, maxItems: 5, x-kubernetes-list-type: set, items: {type: string, x-kubernetes-validations: [{rule: "self == oldSelf"}]}} => bad-format items.x-kubernetes-validations.0.rule
{type: array, maxItems: 5, items: {type: object, properties: {a: {type: string, x-kubernetes-validations: [{rule: "self == oldSelf"}]}}}} => bad-format items.properties.a.x-kubernetes-validations.0.rule
{type: array, maxItems: 5, items: {type: object, properties: {a: {type: string, x-kubernetes-validations: [{rule: "self == 'x'"}]}}}} => accepted
{type: array, maxItems: 5, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a], items: {type: object, required: [a], properties: {a: {type: string, x-kubernetes-validations: [{rule: "self == oldSelf"}]}}}} => accepted
{type: array, maxItems: 5, items: {type: string, x-kubernetes-validations: [{rule: "oldSelf.hasValue()", optionalOldSelf: true}]}} => bad-format items.x-kubernetes-validations.0.rule
{type: object, maxProperties: 5, additionalProperties: {type: string, x-kubernetes-validations: [{rule: "self == oldSelf"}]}} => accepted
{type: array, maxItems: 5, items: {type: object, maxProperties: 5, additionalProperties: {type: string, x-kubernetes-validations: [{rule: "self == oldSelf"}]}}} => bad-format items.additionalProperties.x-kubernetes-validations.0.rule
{type: object, x-kubernetes-map-type: atomic, properties: {a: {type: string, x-kubernetes-validations: [{rule: "self == oldSelf"}]}}} => accepted
{type: array, maxItems: 5, x-kubernetes-list-type: atomic, items: {type: string}, x-kubernetes-validations: [{rule: "self == oldSelf"}]} => accepted
{type: object, properties: {a-b: {type: string}}, x-kubernetes-validations: [{rule: "self.a__dash__b == 'x'"}]} => accepted
{type: object, properties: {a-b: {type: string}}, x-kubernetes-validations: [{rule: "self['a-b'] == 'x'"}]} => bad-format x-kubernetes-validations.0.rule
{type: object, properties: {"1a": {type: string}}, x-kubernetes-validations: [{rule: "self['1a'] == 'x'"}]} => bad-format x-kubernetes-validations.0.rule
{type: object, properties: {namespace: {type: string}}, x-kubernetes-validations: [{rule: "self.__namespace__ == 'x'"}]} => accepted
{type: object, properties: {namespace: {type: string}}, x-kubernetes-validations: [{rule: "self.namespace == 'x'"}]} => accepted
{type: object, properties: {a: {type: string, format: date-time}}, x-kubernetes-validations: [{rule: "self.a > timestamp('2024-01-01T00:00:00Z')"}]} => accepted
{type: object, properties: {a: {type: string, format: date-time}}, x-kubernetes-validations: [{rule: "self.a == 'x'"}]} => bad-format x-kubernetes-validations.0.rule
{type: object, properties: {a: {type: string, format: duration}}, x-kubernetes-validations: [{rule: "self.a > duration('1s')"}]} => accepted
{type: object, properties: {a: {type: string, format: byte}}, x-kubernetes-validations: [{rule: "self.a == b'x'"}]} => accepted
{type: object, properties: {a: {type: string, format: byte}}, x-kubernetes-validations: [{rule: "self.a == 'x'"}]} => bad-format x-kubernetes-validations.0.rule
{type: object, properties: {a: {type: string, nullable: true}}, x-kubernetes-validations: [{rule: "self.a == null"}]} => bad-format x-kubernetes-validations.0.rule
{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: "self.a == null"}]} => bad-format x-kubernetes-validations.0.rule
{type: object, properties: {a: {type: object, properties: {b: {type: string}}}}, x-kubernetes-validations: [{rule: "self.a != null"}]} => accepted
{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: "self.?a.orValue('x') == 'x'"}]} => accepted
{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: "self.?b.orValue('x') == 'x'"}]} => bad-format x-kubernetes-validations.0.rule
{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: "self.?a.orValue(1) == 1"}]} => bad-format x-kubernetes-validations.0.rule
{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: "self.?a == 'x'"}]} => bad-format x-kubernetes-validations.0.rule
{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: "'a' in self"}]} => bad-format x-kubernetes-validations.0.rule
{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: "self['a'] == 'x'"}]} => bad-format x-kubernetes-validations.0.rule
{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: "self.exists(k, k == 'a')"}]} => bad-format x-kubernetes-validations.0.rule
{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: "size(self) == 1"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, x-kubernetes-validations: [{rule: "quantity(self).isGreaterThan(quantity('1'))"}]} => accepted
{type: string, x-kubernetes-validations: [{rule: "isURL(self)"}]} => accepted
{type: string, x-kubernetes-validations: [{rule: "self.find('a') == 'a'"}]} => accepted
{type: string, x-kubernetes-validations: [{rule: "self.nope('a') == 'a'"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, x-kubernetes-validations: [{rule: "authorizer.path('/').check('get').allowed()"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, x-kubernetes-validations: [{rule: "request.userInfo.username == 'a'"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, x-kubernetes-validations: [{rule: "self == params.a"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, x-kubernetes-validations: [{rule: "type(self) == string"}]} => accepted
{type: string, x-kubernetes-validations: [{rule: "type(self) == int"}]} => accepted
{type: string, x-kubernetes-validations: [{rule: "dyn(self) == 1"}]} => accepted
{type: string, x-kubernetes-validations: [{rule: "int(self) == 1"}]} => accepted
{type: integer, x-kubernetes-validations: [{rule: "string(self) == '1'"}]} => accepted
{type: number, x-kubernetes-validations: [{rule: "self == 1"}]} => bad-format x-kubernetes-validations.0.rule
{type: number, x-kubernetes-validations: [{rule: "self > 1"}]} => accepted
{type: number, x-kubernetes-validations: [{rule: "self % 2.0 == 0.0"}]} => bad-format x-kubernetes-validations.0.rule
{type: integer, x-kubernetes-validations: [{rule: "self % 2 == 0"}]} => accepted
{type: integer, x-kubernetes-validations: [{rule: "self / 2.0 > 0.0"}]} => bad-format x-kubernetes-validations.0.rule
{type: integer, x-kubernetes-validations: [{rule: "-self < 0"}]} => accepted
{type: string, x-kubernetes-validations: [{rule: "-self < 0"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, x-kubernetes-validations: [{rule: "self - 'a' == ''"}]} => bad-format x-kubernetes-validations.0.rule
{type: boolean, x-kubernetes-validations: [{rule: "self < true"}]} => accepted
{type: boolean, x-kubernetes-validations: [{rule: "self + true"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "cel.bind(x, self, x == 'a')"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "math.greatest(1, 2) == 2"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "lists.range(3).size() == 3"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "[1,2].slice(0,1).size() == 1"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "[1,2].distinct().size() == 1"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "[1,2].first().hasValue()"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "[1,2].sort().size() == 1"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "[1,2].sortBy(x, x).size() == 1"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "base64.encode(b'a') == 'a'"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "base64.decode('a') == b'a'"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "regex.replace(self, 'a', 'b') == 'c'"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "strings.quote(self) == 'a'"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "'%s'.format([self]) == 'a'"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "self.split(',', 2).size() == 1"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "self.indexOf('a', 1) == 1"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "self.replace('a', 'b', 1) == 'c'"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "self.charAt(0) == 'a'"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "sets.contains([1],[2])"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "sets.equivalent(['a'], self.split(','))"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "optional.of(self).hasValue()"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "optional.none().orValue('a') == self"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "optional.ofNonZeroValue(self).orValue('x') == self"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "optional.of(self).or(optional.of('b')).value() == 'a'"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "ip(self).isCanonical() || true"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "ip(self).family() == 4"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "cidr(self).containsIP('1.1.1.1')"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "cidr(self).prefixLength() == 3"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "cidr(self).containsIP(ip('1.1.1.1'))"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "url(self).getHost() == 'a'"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "url(self).getQuery()['a'][0] == 'b'"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "quantity(self).compareTo(quantity('1')) > 0"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "quantity(self).asInteger() > 1"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "semver(self).major() == 1"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "isSemver(self)"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "semver(self).isLessThan(semver('1.0.0'))"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "isSemver(self, true)"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "semver(self, true).major() == 1"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "format.named('dns1123label').hasValue()"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "!format.dns1123Label().validate(self).hasValue()"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "self.matches('^a$')"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "matches(self, 'a')"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "size(self) > 0"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "self.size() > 0"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "string(1) == self"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "bytes(self) == b'a'"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "duration('1s').getSeconds() == 1"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "timestamp('2024-01-01T00:00:00Z').getFullYear() == 2024"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "timestamp('2024-01-01T00:00:00Z') - duration('1s') < timestamp('2024-01-01T00:00:00Z')"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "duration('1s') + duration('1s') > duration('1s')"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "timestamp(self) - timestamp('2024-01-01T00:00:00Z') > duration('1s')"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "type(1) != string"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "[1, 2].all(i, v, i < v)"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "{'a': 1}.all(k, v, v > 0)"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "[1,2].transformList(i, v, v * 2).size() == 2"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "{'a': 1}.transformMap(k, v, v + 1)['a'] == 2"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "{'a': 1}.a == 1"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "{'a': 1}['a'] == 1"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "'a' in {'a': 1}"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "{'a': 1, 'b': 'c'}.a == 1"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "[1, 'a'].size() == 2"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "[1, 1.0].size() == 2"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "[[], [1]].size() == 2"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "[{'a': 1}, {}].size() == 2"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "[1].min() == 1"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "[1].sum() == 1"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "[1].exists_one(x, x == 1)"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "[1].existsOne(i, x, x == 1)"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "self.lowerAscii().startsWith('a') ? true : false"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "self == 'a' ? 1 == 1 : false"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "(self == 'a' ? 1 : 2) == 1"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "(self == 'a' ? 1 : 2.0) == 1"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "dyn(1) == 'a'"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "dyn([1, 'a'])[0] == 1"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "1 < 2.0"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "1u < 2"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "1u == 1"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "1 == 1.0"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "b'a' < b'b'"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "b'a' + b'b' == b'ab'"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "null == null"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "self != null"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "[self] == [null]"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "{self: 1}.size() == 1"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "has({'a': 1}.a)"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "has(self.a)"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "!has({'a': {'b': 1}}.a.b)"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "self[0] == 'a'"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "self.a == 'b'"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "[1][0] == 1"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "[1][0.0] == 1"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "[1][1u] == 1"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "{1: 'a'}[1] == 'a'"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "{1: 'a'}[1.0] == 'a'"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "{'a': 1}.?a.orValue(2) == 1"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "[1][?0].orValue(2) == 1"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "[?optional.of(1)].size() == 1"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "{?'a': optional.of(1)}.size() == 1"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "{'a': {'b': 1}}.?a.?b.orValue(2) == 1"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "{'a': {'b': 1}}.?a.b.orValue(2) == 1"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "int(self) > 0 && double(self) > 0.0 && uint(self) > 0u"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "int(1.5) == 1 && int(true ? '1' : '2') == 1"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "string(true) == 'true' && string(b'a') == 'a'"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "string(duration('1s')) == '1s'"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "int(timestamp(self)) > 0"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "bool('true')"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "timestamp(1) > timestamp(0)"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "dyn(self).foo == 1"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "self.find('a') in ['a', 'b']"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "self.findAll('a', 1).size() == 1"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "self.trim().upperAscii() == self.substring(1, 2)"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "self.substring(1).lastIndexOf('a') == 0"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "google.protobuf.Timestamp == type(timestamp(self))"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "true || self"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "false && 1"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "self.contains(1)"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "self.nothing"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "self + null == 'a'"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "-1 < 0"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "- self.size() < 0"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "!(self == 'a')"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "!!true"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "self == \"a\\d\""}]} => bad-format x-kubernetes-validations.0.rule
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "self == r'a\\d'"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "self.matches('\\\\d+')"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "self in ['a'] && !(self in [])"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "[] == [1]"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "{} == {'a': 1}"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "[] + [1] == [1]"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "[1] + ['a'] == [1]"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "['a'] + self.split('a') == []"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "self.split('a').map(x, x.size()).sum() == 1"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "self.split('a').filter(x, x != '').size() > 1"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "self.split('a').map(x, x != '', x.size()).exists(y, y > 1)"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "self.split('a').exists(x, self.split('b').all(y, x == y))"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "self.split('a')[0].size() in [1, 2]"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "[1,2,3].exists(x, x in [1.0])"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "self.all(c, c == 'a')"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "1.all(x, true)"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "[[1]].all(x, x.all(y, y > 0))"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "x == 1"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "[1].all(x, z > 0)"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "self.oldSelf"}]} => bad-format x-kubernetes-validations.0.rule
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "oldSelf == self"}]} => accepted
{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "oldSelf.size() > self.size()"}]} => accepted
`

/** Schemas of a whole object with rules. */
const OBJECTS = `
{type: object, properties: {spec: {type: object, properties: {a: {type: string}}}}, x-kubernetes-validations: [{rule: "self.metadata.name == 'a'"}]} => accepted
{type: object, properties: {spec: {type: object, properties: {a: {type: string}}}}, x-kubernetes-validations: [{rule: "self.metadata.labels.size() == 0"}]} => bad-format x-kubernetes-validations.0.rule
{type: object, properties: {spec: {type: object, properties: {a: {type: string}}}}, x-kubernetes-validations: [{rule: "self.metadata.namespace == 'a'"}]} => bad-format x-kubernetes-validations.0.rule
{type: object, properties: {spec: {type: object, properties: {a: {type: string}}}}, x-kubernetes-validations: [{rule: "self.kind == 'a' && self.apiVersion == 'b'"}]} => accepted
{type: object, properties: {spec: {type: object, properties: {a: {type: string}}}}, x-kubernetes-validations: [{rule: "self.status.a == 'a'"}]} => bad-format x-kubernetes-validations.0.rule
{type: object, properties: {spec: {type: object, properties: {a: {type: string}}}}, x-kubernetes-validations: [{rule: "self.spec.a == 'a'", fieldPath: .spec.a}]} => accepted
{type: object, properties: {spec: {type: object, properties: {a: {type: string}}}}, x-kubernetes-validations: [{rule: "self.spec == oldSelf.spec"}]} => accepted
`

/** Rows of what the API server asks of the CEL rules of a schema: syntax, types, names, messages, paths and oldSelf. */
export const RULE_CHANGES: readonly Change[] = [...rowsOfFields(FIELDS), ...rowsOfObjects(OBJECTS)]
