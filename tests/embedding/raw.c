/* Metadata as bytes: signatures, marshalling descriptions, IL as text, declarative security. raw.expected is what mono prints. */
#include <mono/jit/jit.h>
#include <mono/metadata/appdomain.h>
#include <mono/metadata/assembly.h>
#include <mono/metadata/debug-helpers.h>
#include <mono/metadata/loader.h>
#include <mono/metadata/mono-config.h>
#include <mono/metadata/opcodes.h>
#include <mono/metadata/reflection.h>
#include <mono/metadata/row-indexes.h>
#include <mono/metadata/tokentype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MonoDomain *domain;
static MonoImage *image;
static uint32_t cell(int table, int row, int column) { return mono_metadata_decode_row_col(mono_image_get_table_info(image, table), row, column); }
static const char *name_of(MonoType *t)
{
    static char *last;
    if (!t)
        return "(none)";
    mono_free(last);
    return last = mono_type_get_name(t);
}
static const char *blob(uint32_t index)
{
    const char *at = mono_metadata_blob_heap(image, index);
    mono_metadata_decode_blob_size(at, &at);
    return at;
}
static void bytes(const char *what, const char *at, uint32_t n)
{
    printf("%s %u:", what, n);
    for (uint32_t i = 0; i < n; i++)
        printf(" %02x", (unsigned char)at[i]);
    printf("\n");
}
static void signature(const char *title, MonoMethodSignature *sig)
{
    char *text = mono_signature_get_desc(sig, 1);
    printf("%s: %s(%s) instance %d\n", title, name_of(mono_signature_get_return_type(sig)), text, mono_signature_is_instance(sig));
    mono_free(text);
}
static void spec(const char *title, MonoMarshalSpec *s)
{
    if (!s) {
        printf("%s: no description\n", title);
        return;
    }
    printf("%s: native %x", title, s->native);
    if (s->native == MONO_NATIVE_LPARRAY || s->native == MONO_NATIVE_BYVALARRAY || s->native == MONO_NATIVE_BYVALTSTR)
        printf(" element %x count %d parameter %d times %d", s->data.array_data.elem_type, s->data.array_data.num_elem, s->data.array_data.param_num, s->data.array_data.elem_mult);
    if (s->native == MONO_NATIVE_CUSTOM)
        printf(" type %s cookie %s", s->data.custom_data.custom_name, s->data.custom_data.cookie);
    printf("\n");
}

static void signatures(void)
{
    const char *rest;
    for (int i = 0; i < mono_image_get_table_rows(image, MONO_TABLE_METHOD); i++) {
        const char *at = blob(cell(MONO_TABLE_METHOD, i, MONO_METHOD_SIGNATURE));
        const char *name = mono_metadata_string_heap(image, cell(MONO_TABLE_METHOD, i, MONO_METHOD_NAME));
        if (!strcmp(name, "Convert") || !strcmp(name, "Same"))
            continue; /* parameters of generic methods have no context here */
        MonoMethodSignature *sig = mono_metadata_parse_method_signature(image, 1, at, &rest);
        signature(name, sig);
        printf("  %d bytes", (int)(rest - at));
        mono_metadata_free_method_signature(sig);
        /* the types one by one */
        const char *p = at + 2;
        if (!(at[0] & 0x10)) {
            MonoType *result = mono_metadata_parse_type(image, MONO_PARSE_RET, 0, p, &p);
            printf("; result %s by-ref %d", name_of(result), mono_type_is_byref(result));
            for (int k = 0; k < at[1]; k++) {
                MonoType *t = mono_metadata_parse_param(image, p, &p);
                printf("; %s by-ref %d", name_of(t), mono_type_is_byref(t));
            }
        }
        printf("; left %d\n", (int)(rest - p));
    }
    for (int i = 0; i < mono_image_get_table_rows(image, MONO_TABLE_FIELD); i++) {
        const char *at = blob(cell(MONO_TABLE_FIELD, i, MONO_FIELD_SIGNATURE));
        const char *name = mono_metadata_string_heap(image, cell(MONO_TABLE_FIELD, i, MONO_FIELD_NAME));
        if (!strcmp(name, "Value"))
            continue;
        MonoType *t = mono_metadata_parse_field_type(image, 0, at + 1, &rest);
        printf("field %s: %s, %d bytes\n", name, name_of(t), (int)(rest - at - 1));
        if (mono_type_get_type(t) == MONO_TYPE_ARRAY) {
            MonoArrayType *a = mono_type_get_array_type(t);
            printf("  rank %d, sizes %d, bounds %d, of %s\n", a->rank, a->numsizes, a->numlobounds, mono_class_get_name(a->eklass));
        }
    }
    static const char array[] = {MONO_TYPE_I4, 3, 2, 4, 5, 1, 2}; /* int[,,] of 4 by 5, from 1 */
    MonoArrayType *a = mono_metadata_parse_array(image, array, &rest);
    printf("array: %s rank %d sizes %d (%d, %d) bounds %d (%d), %d bytes\n", mono_class_get_name(a->eklass), a->rank, a->numsizes, a->sizes[0], a->sizes[1], a->numlobounds, a->lobounds[0], (int)(rest - array));
    static const char coded[] = {2 << 2, 2 << 2 | 1, 1 << 2 | 2};
    for (int i = 0; i < 3; i++)
        printf("coded %d: %08x\n", i, mono_metadata_parse_typedef_or_ref(image, coded + i, &rest));
    static const char modifiers[] = {MONO_TYPE_CMOD_REQD, 1 << 2 | 1, MONO_TYPE_CMOD_OPT, 2 << 2, MONO_TYPE_I4};
    const char *p = modifiers;
    MonoCustomMod m;
    while (mono_metadata_parse_custom_mod(image, &m, p, &rest)) {
        printf("modifier required %d token %08x, %d bytes\n", m.required, m.token, (int)(rest - p));
        p = rest;
    }
    printf("then %d, %d bytes\n", *p, (int)(rest - p));
    printf("element of a generic argument: %s\n", name_of(mono_metadata_parse_type(image, MONO_PARSE_PARAM, 0, (const char[]){MONO_TYPE_PTR, MONO_TYPE_SZARRAY, MONO_TYPE_STRING}, &rest)));
}

static void rows(void)
{
    static const int tables[] = {MONO_TABLE_TYPEDEF, MONO_TABLE_FIELD, MONO_TABLE_METHOD, MONO_TABLE_PARAM, MONO_TABLE_CUSTOMATTRIBUTE, MONO_TABLE_FIELDMARSHAL, MONO_TABLE_DECLSECURITY};
    const char *first = mono_metadata_locate(image, MONO_TABLE_TYPEDEF, 1);
    for (int i = 0; i < 7; i++) {
        uint32_t bits = 0;
        int size = mono_metadata_compute_size(image, tables[i], &bits);
        printf("table %x: rows of %d bytes, columns %08x, second at %d by number, %d by token\n", tables[i], size, bits,
            (int)(mono_metadata_locate(image, tables[i], 2) - mono_metadata_locate(image, tables[i], 1)),
            (int)(mono_metadata_locate_token(image, tables[i] << 24 | 2) - mono_metadata_locate_token(image, tables[i] << 24 | 1)));
    }
    for (int i = 0; i < mono_image_get_table_rows(image, MONO_TABLE_FIELD); i++) {
        uint32_t offset = 77, rva = 77;
        MonoMarshalSpec *s = NULL;
        mono_metadata_field_info(image, i, &offset, &rva, &s);
        printf("field %d: offset %d, data %d", i, (int)offset, rva != 0 && rva != 77);
        spec("", s);
        if (s)
            mono_metadata_free_marshal_spec(s);
        const char *raw = mono_metadata_get_marshal_info(image, i, 1);
        printf("  marshal info %d\n", raw != NULL);
    }
    for (int i = 0; i < mono_image_get_table_rows(image, MONO_TABLE_PARAM); i++) {
        const char *raw = mono_metadata_get_marshal_info(image, i, 0);
        if (raw) {
            const char *at = raw;
            uint32_t size = mono_metadata_decode_blob_size(raw, &at);
            bytes("parameter's description", at, size);
            MonoMarshalSpec *s = mono_metadata_parse_marshal_spec(image, raw);
            spec("parameter", s);
            mono_metadata_free_marshal_spec(s);
        }
    }
    (void)first;
}

static char *indent(MonoDisHelper *dh, MonoMethod *m, uint32_t offset) { return strdup(offset % 4 ? "  " : "    "); }
static char *token(MonoDisHelper *dh, MonoMethod *m, uint32_t t)
{
    char *s = malloc(30);
    sprintf(s, "<%08x>", t);
    return s;
}
static void code(void)
{
    MonoClass *kept = mono_class_from_name(image, "More", "Kept");
    static const char *methods[] = {"Add", "Join", "Steps", ".cctor"};
    for (int i = 0; i < 4; i++) {
        MonoMethod *m = mono_class_get_method_from_name(kept, methods[i], -1);
        MonoMethodHeader *h = mono_method_get_header(m);
        uint32_t size, stack;
        const unsigned char *il = mono_method_header_get_code(h, &size, &stack), *at = il;
        char *text = mono_disasm_code(NULL, m, il, il + size);
        printf("%s:\n%s", methods[i], text);
        mono_free(text);
        MonoDisHelper own = {"|\n", "%d: ", "->%d", indent, token};
        text = mono_disasm_code(&own, m, il, il + size);
        printf("%s", text);
        mono_free(text);
        text = mono_disasm_code_one(NULL, m, at, &at);
        printf("one: %s, %d bytes\n", text, (int)(at - il));
        mono_free(text);
        const unsigned char *op = il;
        MonoOpcodeEnum value = mono_opcode_value(&op, il + size);
        printf("opcode %d %s, %d on\n", value, mono_opcode_name(value), (int)(op - il));
    }
    static const unsigned char two[] = {0xfe, 0x01, 0xfe};
    const unsigned char *op = two;
    int value = mono_opcode_value(&op, two + 3);
    printf("two bytes: %d %s, %d on\n", value, mono_opcode_name(value), (int)(op - two));
    op = two + 2;
    printf("cut off: %d\n", mono_opcode_value(&op, two + 3));
    printf("opcodes: %d %d %d\n", mono_opcodes[MONO_CEE_NOP].opval, mono_opcodes[MONO_CEE_CALL].argument, mono_opcodes[MONO_CEE_CALL].flow_type);
}

static void security(void)
{
    MonoClass *kept = mono_class_from_name(image, "More", "Kept"), *secure = mono_class_from_name(image, "More", "Secure");
    MonoMethod *guarded = mono_class_get_method_from_name(kept, "Guarded", 0), *add = mono_class_get_method_from_name(kept, "Add", 2);
    printf("flags: method %x %x, class %x %x, assembly %x\n", mono_declsec_flags_from_method(guarded), mono_declsec_flags_from_method(add), mono_declsec_flags_from_class(kept), mono_declsec_flags_from_class(secure), mono_declsec_flags_from_assembly(mono_image_get_assembly(image)));
    MonoDeclSecurityActions d, e;
    MonoDeclSecurityEntry entry;
    memset(&d, 0, sizeof d);
    memset(&e, 0, sizeof e);
    memset(&entry, 0, sizeof entry);
    printf("demands %d", mono_declsec_get_demands(guarded, &d));
    printf(" size %u index %d; %u %u\n", d.demand.size, (int)d.demand.index != 0, d.noncasdemand.size, d.demandchoice.size);
    printf("no demands %d\n", mono_declsec_get_demands(add, &d));
    memset(&d, 0, sizeof d);
    printf("link demands %d", mono_declsec_get_linkdemands(guarded, &d, &e));
    printf(" class %u method %u\n", d.demand.size, e.demand.size);
    memset(&d, 0, sizeof d);
    printf("inheritance demands %d", mono_declsec_get_inheritdemands_class(secure, &d));
    printf(" %u\n", d.demand.size);
    memset(&d, 0, sizeof d);
    printf("of a method %d\n", mono_declsec_get_inheritdemands_method(guarded, &d));
    for (int action = MONO_DECLSEC_ACTION_MIN; action <= MONO_DECLSEC_ACTION_MAX; action++) {
        memset(&entry, 0, sizeof entry);
        if (mono_declsec_get_method_action(guarded, action, &entry))
            bytes("method's action", entry.blob, entry.size < 20 ? entry.size : 20), printf("  action %d, size %u\n", action, entry.size);
        if (mono_declsec_get_class_action(secure, action, &entry))
            printf("class's action %d, size %u\n", action, entry.size);
        if (mono_declsec_get_assembly_action(mono_image_get_assembly(image), action, &entry))
            printf("assembly's action %d, size %u\n", action, entry.size);
    }
}

static void tokens(void)
{
    MonoClass *c = NULL, *kept = mono_class_from_name(image, "More", "Kept");
    MonoType *t = mono_ldtoken(image, mono_class_get_type_token(kept), &c, NULL);
    printf("token of a class: %s, %s\n", name_of(t), mono_class_get_name(c));
    void *found;
    MonoMethod *add = mono_class_get_method_from_name(kept, "Add", 2);
    found = mono_ldtoken(image, mono_method_get_token(add), &c, NULL);
    printf("of a method: %d, %s\n", found == (void *)add, mono_class_get_name(c));
    MonoClassField *grid = mono_class_get_field_from_name(kept, "Grid");
    found = mono_ldtoken(image, mono_class_get_field_token(grid), &c, NULL);
    printf("of a field: %d, %s\n", found == (void *)grid, mono_class_get_name(c));
    MonoAssembly *back = mono_reflection_assembly_get_assembly((void *)mono_assembly_get_object(domain, mono_image_get_assembly(image)));
    printf("assembly and back: %d\n", back == mono_image_get_assembly(image));
    uint32_t size = 0;
    const char *strong = mono_image_get_strong_name(mono_get_corlib(), &size);
    printf("strong name of the core library: %u bytes at %d\n", size, mono_image_strong_name_position(mono_get_corlib(), &size) != 0);
    strong = mono_image_get_strong_name(image, &size);
    printf("of ours: %d, %u\n", strong != NULL, mono_image_strong_name_position(image, &size));
    MonoArray *data = mono_reflection_get_custom_attrs_data((MonoObject *)mono_type_get_object(domain, mono_class_get_type(kept)));
    printf("attributes as data: %d, %s\n", (int)mono_array_length(data), mono_class_get_name(mono_object_get_class(mono_array_get(data, MonoObject *, 0))));
    char *text = mono_string_to_utf8(mono_object_to_string(mono_array_get(data, MonoObject *, 0), NULL));
    printf("  %s\n", text);
    mono_free(text);
    MonoMarshalConv conv = 77;
    static const struct { const char *field; } fields[] = {{"Number"}, {"Name"}, {"Items"}};
    MonoClass *record = mono_class_from_name(image, "More", "Record");
    for (int i = 0; i < 3; i++) {
        MonoClassField *f = mono_class_get_field_from_name(record, fields[i].field);
        MonoMarshalSpec *s = NULL;
        const char *raw = mono_metadata_get_marshal_info(image, mono_metadata_token_index(mono_class_get_field_token(f)) - 1, 1);
        if (raw)
            s = mono_metadata_parse_marshal_spec(image, raw);
        uint32_t native = mono_type_to_unmanaged(mono_field_get_type(f), s, 1, 0, &conv);
        printf("%s unmanaged: %x by %d\n", fields[i].field, native, conv);
    }
    MonoClass *plain[] = {mono_get_string_class(), mono_get_boolean_class(), mono_get_char_class(), mono_get_double_class(), mono_get_intptr_class(), mono_get_object_class(), record, kept, mono_array_class_get(mono_get_int32_class(), 1), mono_class_from_name(mono_get_corlib(), "System", "Action"), mono_class_from_name(mono_get_corlib(), "System", "DayOfWeek"), mono_class_from_name(mono_get_corlib(), "System.Text", "StringBuilder"), mono_class_from_name(mono_get_corlib(), "System.Runtime.InteropServices", "SafeHandle"), mono_class_from_name(mono_get_corlib(), "System.Runtime.InteropServices", "HandleRef")};
    for (int i = 0; i < 14; i++)
        for (int mode = 0; mode < 4; mode++) {
            if (i == 5 && mode == 0) continue;
            conv = 77;
            uint32_t native = mono_type_to_unmanaged(mono_class_get_type(plain[i]), NULL, mode & 1, mode >> 1, &conv);
            printf("%s%s%s: %x by %d\n", mono_class_get_name(plain[i]), mode & 1 ? " in a field" : "", mode & 2 ? " as UTF-16" : "", native, conv);
        }
}

int main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    setenv("MONO_THREADS_SUSPEND", "preemptive", 0);
    mono_config_parse(NULL);
    domain = mono_jit_init("raw");
    image = mono_assembly_get_image(mono_domain_assembly_open(domain, "More.dll"));
    signatures();
    rows();
    code();
    security();
    tokens();
    mono_jit_cleanup(domain);
    return 0;
}
